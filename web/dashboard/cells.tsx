import { number, tenths } from "#web/kit/numbers.ts";
import { say } from "#web/dashboard/words.ts";

/** A problem code that leads to its explanation; empty: from before codes were kept. */
export const Problem = ({ code }: { code: string }) =>
  code === "" ? (
    <span class="soft">{say("not recorded at that time")}</span>
  ) : (
    <a class="any" href={`../problems/${code}`}>
      {code}
    </a>
  );

/** `POST /stations/{station_id}/report`; it breaks before a slash. */
export const Call = ({ method }: { method: string }) => (
  <code class="any">
    {method.split("/").map((part, n) => (
      <>
        {n > 0 && (
          <>
            <wbr />/
          </>
        )}
        {part}
      </>
    ))}
  </code>
);

/** `0.4`, `12.5`, `1,250`. */
export const milliseconds = (ms: number): string =>
  ms < 100 ? tenths(ms) : number(Math.round(ms));
