import { isUnavailable } from "#src/infrastructure/db.ts";

/** What an operator can do about a fault of Postgres; null for a fault of ours. */
export function databaseFault(error: unknown): string | null {
  const { code, message } = error as { code?: unknown; message: string };
  // knex puts the statement before the message.
  const why = `(${message.split(" - ").at(-1)})`;
  const [, schema] = /permission denied for schema (\S+)$/.exec(message) ?? [];
  switch (code) {
    case "42501":
      if (schema !== undefined)
        return `this user of Postgres may make no tables ${why}: let the database's owner run "grant create on schema ${schema} to" that user`;
      return `this user of Postgres may not do that ${why}: use the DATABASE_URL of the owner of the tables`;
    case "28P01":
    case "28000":
    case "3D000":
      return `Postgres refuses DATABASE_URL ${why}: check its user, password and database`;
    case "25006":
    case "53100":
      return `the database takes no writes ${why}: see docs/operations.md, "A database that takes no writes"`;
    case "55P03":
    case "57014":
    case "40P01":
    case "25P03":
      return `Postgres broke the command off ${why}: something else holds what it needs, or it took too long. Run it again`;
    default:
      return isUnavailable(error) ? `Postgres does not answer ${why}` : null;
  }
}
