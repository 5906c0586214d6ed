import { boundAddress } from "#src/infrastructure/addresses.ts";
import { parseHosts } from "#src/infrastructure/postgres-hosts.ts";
import { parseCenter } from "#src/infrastructure/map-settings.ts";

/** One number or switch that an operator may change. */
interface Setting<T> {
  meaning: string;
  fallback: T;
  /** The value of a text that is not empty. Throws an Error that names the expected form. */
  parse: (text: string) => T;
  secret: boolean;
}

type Declare = <T>(
  fallback: T,
  parse: (text: string) => T,
) => (meaning: TemplateStringsArray) => Setting<T>;

const declare =
  (isSecret: boolean): Declare =>
  (fallback, parse) =>
  ([meaning = ""]) => ({ fallback, parse, meaning: meaning.trim(), secret: isSecret });

/** A setting by its default, its check, and behind them its meaning, for the generated documentation. */
export const setting = declare(false);
/** The same for one whose value nobody may see. */
export const secret = declare(true);

/** A name in the environment: `poolMax` is `POOL_MAX`. */
export const envName = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** A table of settings. */
export const settingsOf = <Table extends Record<string, object>>(table: Table) =>
  Object.fromEntries(
    Object.entries(table).map(([name, declared]) => [name, { ...declared, env: envName(name) }]),
  ) as { readonly [Name in keyof Table]: Table[Name] & { env: string } };

export const million = 1_000_000;

export const text = (value: string): string => value;

export const integer =
  (min: number, max: number) =>
  (value: string): number => {
    const number = Number(value);
    if (!/^-?\d+$/.test(value) || number < min || number > max)
      throw new Error(`an integer ${min} to ${max}`);
    return number;
  };

export const flag = (value: string): boolean => {
  if (value === "true" || value === "1") return true;
  if (value === "false" || value === "0") return false;
  throw new Error("true or false");
};

export const oneOf =
  (words: readonly string[]) =>
  (value: string): string => {
    if (!words.includes(value)) throw new Error(`one of ${words.join(", ")}`);
    return value;
  };

/** A text that `form` matches; `what` describes it in words. */
export const shaped =
  (form: RegExp, what: string) =>
  (value: string): string => {
    if (!form.test(value)) throw new Error(what);
    return value;
  };

/** The URL of a server, `postgres://…`, with one of `schemes`. A host may be missing: it may be a socket's folder. */
export const connection =
  (schemes: readonly string[], example: string) =>
  (value: string): string => {
    const scheme = /^([a-z]+):\/\//.exec(value)?.[1] ?? "";
    const usual = value.replace("@/", "@host/");
    // Behind a raw "/" of the password its rest would be a host, which errors name.
    if (!schemes.includes(scheme) || !URL.canParse(usual) || new URL(usual).pathname.includes("@"))
      throw new Error(
        `a URL like ${example}, with signs such as / and @ of the password as %2F and %40`,
      );
    return value;
  };

/** As `connection`, but with several hosts and `target_session_attrs`, as libpq reads them. */
export const postgresUrl = (value: string): string => {
  const isUrl = connection(
    ["postgres", "postgresql"],
    "postgres://user:password@host:5432/database",
  );
  for (const url of parseHosts(value).urls) isUrl(url);
  return value;
};

/** Hosts with or without a port, separated by commas. */
export const hosts = (value: string): string[] => {
  const list = value.split(",").map((item) => item.trim());
  if (!list.every((item) => /^(\[[\da-f:]+\]|[\w.-]+)(:\d{1,5})?$/i.test(item)))
    throw new Error("hosts separated by commas, like redis-1:26379,redis-2:26379");
  return list;
};

/** An http(s) address without query and fragment; slashes at its end do not count. */
export const webAddress = (value: string): string => {
  const url = /^https?:\/\//.test(value) && URL.canParse(value) ? new URL(value) : null;
  if (url === null || /[?#\s]/.test(value) || url.username !== "")
    throw new Error("an address like https://fuel.example, without query");
  return value.replace(/\/+$/, "");
};

/** Addresses and CIDR blocks, separated by commas. */
export const addresses = (value: string): string[] =>
  value
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")
    .map((item) => {
      const address = boundAddress(item);
      if (address === null)
        throw new Error(
          `IP addresses or CIDR blocks separated by commas, like 10.0.0.0/8,::1 (not ${item})`,
        );
      return address;
    });

export const center = (value: string): string => {
  if (parseCenter(value) === null) throw new Error("lat,lon,zoom: -90 to 90, -180 to 180, 0 to 22");
  return value;
};
