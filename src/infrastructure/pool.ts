import { Socket } from "node:net";
import pg from "pg";
import { withClass } from "#src/infrastructure/faults.ts";

// pg declares `query` and `connect` in a dozen forms, for promises and callbacks: the same ones go in and out here.
// oxlint-disable typescript/no-explicit-any

/** A connection of the pool. Its statements are sent at once, also while another's answer is on its way. */
export class Connection extends pg.Client {
  readonly #socket: Socket;

  constructor(config?: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
    // Whoever asks hears of a fault by the answer; the pool discards the connection.
    this.on("error", () => undefined);
  }

  /** What is sent in this turn leaves in one write. (With TLS each statement is a write of its own.) */
  corkTurn(): void {
    if (this.#socket.writableCorked > 0) return;
    this.#socket.cork();
    process.nextTick(() => this.#socket.uncork());
  }

  override query(...args: any[]): any {
    const answer = args.at(-1);
    if (typeof answer !== "function") return rejectWithClass((super.query as any)(...args));
    const typed = (error: Error | null, result: unknown): void =>
      answer(error && withClass(error), result);
    return (super.query as any)(...args.slice(0, -1), typed);
  }
}

/** `pg`'s pool of these connections, for knex and for pipelined transactions alike. */
export class Pool extends pg.Pool {
  constructor(config: pg.PoolConfig) {
    super({ ...config, Client: Connection } as pg.PoolConfig);
    // An idle connection was lost: it is gone from the pool, and the next one who asks hears what is the matter.
    this.on("error", () => undefined);
  }

  override connect(...args: any[]): any {
    const connecting = (super.connect as any)(...args);
    return args.length > 0 ? connecting : rejectWithClass(connecting);
  }
}

const rejectWithClass = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((error: Error) => {
    throw withClass(error);
  });
