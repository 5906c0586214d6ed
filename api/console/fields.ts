const idMax = 2_147_483_647;

/** The id of a row in a path; 0, which no row has, when it cannot be one. */
export const rowId = (text: string | undefined, max = idMax): number =>
  /^[1-9]\d{0,14}$/.test(text ?? "") && Number(text) <= max ? Number(text) : 0;

/** The id of a station in a path; "", which no station has, when it cannot be one. */
export const stationIdOf = (text: string | undefined): string =>
  /^[A-Za-z0-9_-]{1,64}$/.test(text ?? "") ? text! : "";
