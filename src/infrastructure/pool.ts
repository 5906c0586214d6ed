import { Socket } from "node:net";
import pg from "pg";
import { boundMs } from "#src/domain/followed-time.ts";
import { ConnectionFault, withClass } from "#src/infrastructure/faults.ts";
import type { Hosts } from "#src/infrastructure/postgres-hosts.ts";

// pg declares `query` and `connect` in a dozen forms, for promises and callbacks: they are passed through unchanged.
// oxlint-disable typescript/no-explicit-any

export interface PoolOptions extends pg.PoolConfig {
  /** Longest wait for a connection, ms. A connection that takes longer is kept for later callers. */
  waitMs?: number;
  /** Used in place of `connectionString`. */
  hosts?: Hosts;
  /** Settings of Postgres for every statement. */
  settings?: Readonly<Record<string, string | number>>;
  /** Called at each answer without an error. */
  onAnswer?: () => void;
  /** Called with the SQLSTATE of each answer that is an error. */
  onFault?: (code: string) => void;
  /** Asked at the beginning of each transaction that may write. */
  fence?: () => TimeFence | null;
}

/** Keeps transactions from writing while the database's clock is not the one that is followed (decisions 21.3). */
export interface TimeFence {
  /** The time that the database's clock should show, ms; null when there is nothing to compare it with. */
  expectedMs(): number | null;
  /** True when transactions are refused without asking Postgres. */
  isShut(): boolean;
  /** Called when Postgres has refused one. */
  onRefused(): void;
}

/**
 * SQLSTATEs of an unexpected session: 26000 and 42P05, its prepared statements are those of another client (a pooler);
 * 25006, its server has become a standby; 57FM1, refused by the fence, so it is left in an open transaction.
 */
const refusedState = "57FM1";
const unfit = /^(26000|42P05|25006|57FM1)$/;

/** Parts of the wait for a connection, and of the wait for any answer. */
const [waitParts, silentParts] = [5, 7];

const readOnly = /^\s*begin\b.*\bread only\b/i;

/** `set_config` gets no settings for a pooler's session, because they would stay there for other clients. */
const setUpSql = `select pg_backend_pid() as pid, pg_is_in_recovery() as standby,
  (select count(set_config(name, value, false)) from unnest($2::text[], $3::text[]) as s(name, value)
   where pg_backend_pid() = $1)`;

/** A connection of the pool. Its statements are sent at once, also while another's answer is on its way. */
export class Connection extends pg.Client {
  readonly #socket: Socket;
  readonly #fence: () => TimeFence | null;
  /** Settings at the beginning of each transaction behind a pooler; empty if the session has them. */
  #settings = "";
  /** True behind a pooler: settings and prepared statements of one transaction may be missing in the next. */
  isShared = false;
  /** True when it must not be used again. */
  isUnfit = false;
  readonly #onAnswer: (() => void) | undefined;
  readonly #onFault: ((code: string) => void) | undefined;

  constructor({ hosts, onAnswer, onFault, fence = () => null, ...config }: PoolOptions = {}) {
    const socket = new Socket();
    const place = hosts === undefined ? {} : { connectionString: hosts.current() };
    super({ ...config, ...place, stream: () => socket });
    this.#socket = socket;
    this.#onAnswer = onAnswer;
    this.#onFault = onFault;
    this.#fence = fence;
    // The caller gets the fault with its answer, and the pool discards the connection.
    this.on("error", () => undefined);
  }

  /** Detects a pooler's session and applies the settings. Rejects at a standby if the primary is wanted. */
  async setUp({ hosts, settings = {} }: PoolOptions): Promise<void> {
    // The id that the server, or a pooler, gave the session at its beginning.
    const { processID } = this as unknown as { processID: number };
    const values = Object.values(settings).map(String);
    const found = await this.query({
      text: setUpSql,
      values: [processID, Object.keys(settings), values],
    });
    const [session] = found.rows as { pid: number; standby: boolean }[];
    if (session!.standby && hosts?.primaryOnly === true)
      throw new ConnectionFault("a standby answers where the primary is wanted");
    if (session!.pid === processID) return;
    this.isShared = true;
    this.#settings = Object.entries(settings)
      .map(([name, value]) => `; set local ${name} = '${value}'`)
      .join("");
  }

  /** Sends the statements of this turn in one write. (With TLS each statement is a write of its own.) */
  corkTurn(): void {
    if (this.#socket.writableCorked > 0) return;
    this.#socket.cork();
    process.nextTick(() => this.#socket.uncork());
  }

  override query(...args: any[]): any {
    const [asked, ...more] = args;
    const statement = this.#begun(asked);
    const answer = more.at(-1);
    if (typeof answer !== "function")
      return (super.query as any)(statement, ...more).then(
        (result: unknown) => {
          this.#onAnswer?.();
          return result;
        },
        (error: Error) => {
          throw this.#noted(error);
        },
      );
    const typed = (error: Error | null, result: unknown): void => {
      if (error === null) this.#onAnswer?.();
      answer(error && this.#noted(error), result);
    };
    return (super.query as any)(statement, ...more.slice(0, -1), typed);
  }

  /** The beginning of a transaction, with the settings and the check of the time behind it. */
  #begun(asked: string | pg.QueryConfig): string | pg.QueryConfig {
    const text = typeof asked === "string" ? asked : asked.text;
    if (!/^\s*begin\b/i.test(text)) return asked;
    // A default set in the transaction is too late for its isolation level; a transaction that names a level keeps it.
    const begun =
      !this.isShared || /\bisolation level\b/i.test(text)
        ? text
        : text.replace(/^\s*begin\b[^;]*/i, "$& isolation level read committed");
    const expectedMs = readOnly.test(text) ? null : (this.#fence()?.expectedMs() ?? null);
    // A select, whose constants pg_stat_statements leaves out.
    const check = expectedMs === null ? "" : `; select expect_time(${expectedMs}, ${boundMs})`;
    const all = `${begun.replace(/[;\s]+$/, "")}${this.#settings}${check}`;
    return typeof asked === "string" ? all : { ...asked, text: all };
  }

  #noted(fault: Error): Error {
    const error = withClass(fault);
    const code = String((error as { code?: unknown }).code);
    this.isUnfit ||= unfit.test(code);
    this.#onFault?.(code);
    if (code === refusedState) this.#fence()?.onRefused();
    return error;
  }
}

/** `pg`'s pool of these connections, for knex and for pipelined transactions alike. */
export class Pool extends pg.Pool {
  readonly #hosts: Hosts | undefined;
  readonly #waitMs: number | undefined;
  /** Time of Postgres's last answer, by the monotonic clock in ms; null before the first. */
  answeredAt: number | null = null;
  /** Called with the SQLSTATE of each answer that is an error. */
  onFault: ((code: string) => void) | null = null;
  fence: TimeFence | null = null;
  #asking: Promise<null> | null = null;

  constructor(config: PoolOptions) {
    super({
      // Longer than any caller waits, so that a slow server gets a connection in the end. With several hosts it is
      // shorter: a host that does not answer must not keep the places from the next.
      ...(config.waitMs === undefined
        ? {}
        : { connectionTimeoutMillis: ((config.hosts?.count ?? 1) > 1 ? 1 : 4) * config.waitMs }),
      ...config,
      onAnswer: () => (this.answeredAt = performance.now()),
      onFault: (code: string) => this.onFault?.(code),
      fence: () => this.fence,
      Client: Connection,
      verify: (client, settle) =>
        void (client as unknown as Connection).setUp(config).then(() => settle(), settle),
    } as pg.PoolConfig);
    this.#hosts = config.hosts;
    this.#waitMs = config.waitMs;
    // A lost idle connection has left the pool already, and the next caller finds out the fault.
    this.on("error", () => undefined);
    // The pool does not keep a client that ends.
    this.on("release", (_fault, client) => {
      if ((client as unknown as Connection).isUnfit) void client.end().catch(() => undefined);
    });
  }

  /** Throws while transactions that write would be refused. */
  refuseWhileShut(): void {
    if (this.fence?.isShut() === true) throw new ConnectionFault("the database's clock is off");
  }

  override connect(...args: any[]): any {
    return args.length > 0
      ? (super.connect as any)(...args)
      : this.#connect(this.#hosts?.count ?? 1).catch((error: Error) => {
          throw withClass(error);
        });
  }

  /** Tries each host once, from the one that worked last. */
  async #connect(tries: number): Promise<pg.PoolClient> {
    const isNew = this.idleCount === 0 && this.totalCount < this.options.max;
    const host = isNew ? this.#hosts?.current() : undefined;
    const making = super.connect();
    try {
      return await this.#inTime(making);
    } catch (error) {
      // A client that comes later goes to the pool.
      making.then((client) => client.release()).catch(() => undefined);
      if (host === undefined) throw error;
      this.#hosts!.failed(host);
      if (tries <= 1) throw error;
      return this.#connect(tries - 1);
    }
  }

  /** The result of `work`, or a fault when Postgres has answered nobody for 1.4 times `waitMs`; `work` itself goes on. */
  unlessSilent<T>(work: Promise<T>): Promise<T> {
    let seen = this.answeredAt;
    return this.#inTime(work, silentParts, () => {
      const isHeard = seen !== this.answeredAt;
      seen = this.answeredAt;
      // For where nothing but `work` asks, and that waits for a lock: one question of all at a time.
      if (!isHeard && this.#asking === null) {
        const answered = (): null => (this.#asking = null);
        this.#asking = this.query("select").then(answered, answered);
      }
      return isHeard;
    });
  }

  /**
   * The result of `work`, or a fault after `waitMs`. The time is waited in parts: while the process itself is busy none of
   * Postgres' answers can be read, and that may use up one part at most. It begins anew where a part ends with `isHeard`.
   */
  async #inTime<T>(work: Promise<T>, most = waitParts, isHeard = () => false): Promise<T> {
    const partMs = (this.#waitMs ?? 0) / waitParts;
    if (partMs === 0) return work;
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<never>((_, reject) => {
      const wait = (parts: number): void => {
        if (parts > 0) timer = setTimeout(() => wait(isHeard() ? most : parts - 1), partMs);
        else reject(new ConnectionFault("timeout exceeded when trying to connect"));
      };
      wait(most);
    });
    return Promise.race([work, over]).finally(() => clearTimeout(timer));
  }
}
