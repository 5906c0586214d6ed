import { Presets, SingleBar } from "cli-progress";

export interface Progress {
  /** Nothing is drawn while `total` is unknown (null). */
  show(step: string, done: number, total: number | null): void;
  end(): void;
}

const linePauseMs = 5000;

/** Shows the progress of long work on stderr: a bar on a terminal, elsewhere a line now and then. */
export function createProgress(
  stderr: NodeJS.WritableStream & { isTTY?: boolean } = process.stderr,
): Progress {
  return stderr.isTTY ? bars(stderr) : lines(stderr);
}

function bars(stderr: NodeJS.WritableStream): Progress {
  let step = "";
  let bar: SingleBar | null = null;
  const end = (): void => {
    bar?.stop();
    bar = null;
    step = "";
  };
  return {
    show: (next, done, total) => {
      if (total === null) return;
      if (next !== step) {
        end();
        step = next;
        const format = `${step} {bar} {percentage} %  {value} of {total}`;
        bar = new SingleBar(
          { format, stream: stderr, hideCursor: true, etaBuffer: 50 },
          Presets.shades_classic,
        );
        bar.start(total, done);
      }
      bar?.update(done);
    },
    end,
  };
}

function lines(stderr: NodeJS.WritableStream): Progress {
  let last = performance.now();
  return {
    show: (step, done, total) => {
      if (performance.now() - last < linePauseMs) return;
      last = performance.now();
      stderr.write(`${step}: ${done}${total === null ? "" : ` of ${total}`}\n`);
    },
    end: () => undefined,
  };
}
