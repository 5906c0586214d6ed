import { named } from "#src/contract/shapes/kinds.ts";
import { Type } from "typebox";
import { device } from "#src/contract/report.ts";
import { type SuggestionKind, suggestionKinds, suggestionTextMax } from "#src/domain/suggestion.ts";

/** `POST /suggestions/send`: what a driver says of a station itself (decisions 15.47). */
export const suggestionBody = named("Suggestion", {
  device,
  kind: Type.Unsafe<SuggestionKind>(Type.Union(suggestionKinds.map((kind) => Type.Literal(kind)))),
  /** Of every kind but `missing`. */
  station_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  /** Where it is: of `moved` and `missing`. */
  lat: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
  lon: Type.Optional(Type.Number({ minimum: -180, maximum: 180 })),
  text: Type.Optional(Type.String({ maxLength: suggestionTextMax })),
});
