import type { ConsoleHeldMark } from "#src/contract/console.ts";
import { dayMs } from "#src/domain/units.ts";
import { useDoing } from "#web/console/doing.ts";
import { Fault } from "#web/kit/fault.tsx";

const days = 7;

/** Holds all further marks of a held mark's reporter, or of the network that it came from, for a week. */
export function BlockButtons({ mark }: { mark: ConsoleHeldMark }) {
  const doing = useDoing();
  const block = (path: string, who: string): void =>
    void doing.run(`Marks of ${who} are held for ${days} days`, "POST", `${path}/block`, {
      until: Date.now() + days * dayMs,
    });
  const { network, reporter, station } = mark;
  const unseen = <span class="unseen"> of the mark at {station}</span>;
  return (
    <>
      <button
        type="button"
        disabled={doing.busy}
        onClick={() => block(`/reporters/${reporter.id}`, `reporter #${reporter.id}`)}
      >
        Block the reporter{unseen}
      </button>
      {network !== null && (
        <button
          type="button"
          disabled={doing.busy}
          onClick={() => block(`/networks/${network}`, `network ${network}`)}
        >
          Block the network{unseen}
        </button>
      )}
      <Fault words={doing.fault} />
    </>
  );
}
