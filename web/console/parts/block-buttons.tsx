import { Button } from "#web/kit/button.tsx";
import type { ConsoleHeldMark } from "#src/contract/console-review.ts";
import { dayMs } from "#src/domain/units.ts";
import { useDoing } from "#web/console/doing.ts";
import { say } from "#web/console/words.ts";
import { Fault } from "#web/kit/fault.tsx";

const days = 7;

/** Holds all further marks of a held mark's reporter, or of the network that it came from, for a week. */
export function BlockButtons({ mark }: { mark: ConsoleHeldMark }) {
  const doing = useDoing();
  const { network, reporter, station } = mark;
  const block = (path: string, words: string): void =>
    void doing.run(words, "POST", path, { until: Date.now() + days * dayMs });
  const blockReporter = (): void => {
    const id = String(reporter.id);
    const words = say("Marks of reporter #{id} are held for {n} {n|day|days}", { id, n: days });
    block(`/reporters/${id}/block`, words);
  };
  const blockNetwork = (network: string): void => {
    const of = { network, n: days };
    const words = say("Marks of network {network} are held for {n} {n|day|days}", of);
    block(`/networks/${network}/block`, words);
  };
  const shared = { of: say("of the mark at {station}", { station }), disabled: doing.busy };
  return (
    <>
      <Button {...shared} words={say("Block the reporter")} onClick={blockReporter} />
      {network !== null && (
        <Button
          {...shared}
          words={say("Block the network")}
          onClick={() => blockNetwork(network)}
        />
      )}
      <Fault words={doing.fault} />
    </>
  );
}
