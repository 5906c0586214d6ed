import type { ConsoleHeldMark } from "#src/contract/console.ts";
import { dayMs } from "#src/domain/units.ts";
import { useDoing } from "#web/console/doing.ts";
import { say } from "#web/console/words.ts";
import { Fault } from "#web/kit/fault.tsx";

const days = 7;

/** Holds all further marks of a held mark's reporter, or of the network that it came from, for a week. */
export function BlockButtons({ mark }: { mark: ConsoleHeldMark }) {
  const doing = useDoing();
  const block = (path: string, words: string): void =>
    void doing.run(words, "POST", `${path}/block`, { until: Date.now() + days * dayMs });
  const { network, reporter, station } = mark;
  const unseen = <span class="unseen"> {say("of the mark at {station}", { station })}</span>;
  return (
    <>
      <button
        type="button"
        disabled={doing.busy}
        onClick={() =>
          block(
            `/reporters/${reporter.id}`,
            say("Marks of reporter #{id} are held for {n} {n|day|days}", {
              id: String(reporter.id),
              n: days,
            }),
          )
        }
      >
        {say("Block the reporter")}
        {unseen}
      </button>
      {network !== null && (
        <button
          type="button"
          disabled={doing.busy}
          onClick={() =>
            block(
              `/networks/${network}`,
              say("Marks of network {network} are held for {n} {n|day|days}", { network, n: days }),
            )
          }
        >
          {say("Block the network")}
          {unseen}
        </button>
      )}
      <Fault words={doing.fault} />
    </>
  );
}
