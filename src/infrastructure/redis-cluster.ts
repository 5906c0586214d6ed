import { setTimeout as sleep } from "node:timers/promises";
import { Cluster, type ClusterOptions, type Command, ReplyError } from "ioredis";
import {
  cannotServe,
  createOutageLines,
  type OutageLog,
  quietly,
  refusedPauseMs,
  typedFault,
} from "#src/infrastructure/redis-outage.ts";

/** Longest look at a node, ms: without a limit it would wait for a frozen one. */
const lookMs = 2000;
const lookEveryMs = 10_000;
const lookAwayMs = 1000;

export interface ClusterNode {
  host: string;
  port: number;
}

const noNode = (): Error => new Error("no node of the cluster answers");

type Reach = NonNullable<ClusterOptions["redisOptions"]>;

/** A worker's connection waits for the cluster and never times out; another one fails within its `commandTimeout`. */
type Kind = "worker" | "request";

const optionsOf = (kind: Kind): ClusterOptions => ({
  enableOfflineQueue: kind === "worker",
  // The check is a question without a limit of time on a worker's connection: a node that is frozen meanwhile would keep
  // BullMQ waiting for ever. Nothing is lost: a node that still loads its data refuses, and the command goes again.
  enableReadyCheck: false,
  // About half a minute, longer than a failover takes; a request's own limit of time ends it much earlier.
  maxRedirections: 100,
  retryDelayOnMoved: 20,
  retryDelayOnFailover: 200,
  retryDelayOnClusterDown: 200,
  clusterRetryStrategy: (times) => Math.min(50 * times, 500),
  // A command that waits for a frozen master would not find its successor.
  slotsRefreshInterval: 5000,
});

/**
 * A connection to a Redis Cluster, with the commands of one to a single Redis. Its faults have the classes of
 * `Connection`. It emits `moved` when another node may serve a slot: it may lack the last writes after a failover.
 */
export class ClusterConnection extends Cluster {
  readonly #log: OutageLog;
  readonly #nodes: readonly ClusterNode[];
  readonly #reach: Reach;
  readonly #kind: Kind;
  /** The master of each slot, as of the last `moved`. */
  readonly #masters: (string | undefined)[] = [];
  #isEnded = false;

  /** `nodes`: some nodes of the cluster, which name the others; `reach`: the connection options of each node. */
  constructor(
    log: OutageLog,
    nodes: readonly ClusterNode[],
    kind: Kind,
    reach: Reach,
    isWatched = true,
  ) {
    const lines = createOutageLines(log);
    const heard: { moved?: () => void } = {};
    super([...nodes], {
      ...optionsOf(kind),
      // A certificate names the host, not its address.
      ...(reach.tls === undefined ? {} : { dnsLookup: (name, found) => found(null, name) }),
      redisOptions: {
        ...reach,
        replyMapping: "legacy",
        reconnectOnError: (error) => {
          if (error.message.startsWith("MOVED ")) heard.moved?.();
          else if (cannotServe.test(error.message) && !/^(ASK|TRYAGAIN) /.test(error.message))
            lines.refused(error);
          return false;
        },
      },
    });
    this.#log = log;
    this.#nodes = nodes;
    this.#kind = kind;
    this.#reach = reach;
    heard.moved = () => void this.emit("moved");
    // A node that was away may have come back empty.
    this.on("+node", heard.moved);
    this.on("refresh", () => this.#compareMasters());
    if (isWatched) this.#watch(lines);
    else this.on("error", () => undefined);
  }

  override sendCommand(command: Command, ...more: unknown[]): unknown {
    const { reject } = command;
    const isPipelined = more[0] !== undefined && more[0] !== null;
    command.reject = (error) => {
      const typed = typedFault(error);
      const isRefused = !(error instanceof ReplyError && error.message.startsWith("NOSCRIPT"));
      if (isRefused && !isPipelined && this.#kind === "worker" && this.status === "ready")
        setTimeout(() => reject(typed), refusedPauseMs);
      else reject(typed);
    };
    // Set here, so that the limit covers all tries together.
    if (this.#reach.commandTimeout !== undefined) command.setTimeout(this.#reach.commandTimeout);
    return super.sendCommand(command, ...(more as []));
  }

  // bullmq makes a worker's blocking connection this way. Only the original logs an outage.
  override duplicate(_nodes?: unknown, more: ClusterOptions = {}): never {
    const reach = { ...this.#reach, ...more.redisOptions };
    delete reach.reconnectOnError;
    return new ClusterConnection(
      quietly(this.#log),
      this.#nodes,
      this.#kind,
      reach,
      false,
    ) as never;
  }

  override disconnect(isForAMoment = false): void {
    if (!isForAMoment) this.#isEnded = true;
    super.disconnect(isForAMoment);
  }

  #compareMasters(): void {
    let isOther = false;
    for (const [slot, [master] = []] of this.slots.entries()) {
      if (this.#masters[slot] !== master) isOther = true;
      this.#masters[slot] = master;
    }
    if (isOther) this.emit("moved");
  }

  /** Rejects unless all masters answer and find the cluster complete. */
  async #look(): Promise<void> {
    const masters = this.status === "ready" ? this.nodes("master") : [];
    if (masters.length === 0) throw noNode();
    const late = new AbortController();
    try {
      const states = await Promise.race([
        Promise.all(masters.map((node) => node.cluster("INFO") as Promise<string>)),
        sleep(lookMs, null, late),
      ]);
      if (states === null) throw new Error("a node of the cluster does not answer");
      if (!states.every((state) => state.includes("cluster_state:ok")))
        throw new Error("CLUSTERDOWN, a node says");
    } finally {
      late.abort();
    }
  }

  #watch({ away, back }: ReturnType<typeof createOutageLines>): void {
    let timer: NodeJS.Timeout | undefined;
    let isLooking = false;
    const look = async (): Promise<void> => {
      if (isLooking || this.#isEnded) return;
      isLooking = true;
      clearTimeout(timer);
      let nextMs = lookEveryMs;
      try {
        await this.#look();
        if (!this.#isEnded) back();
      } catch (error) {
        if (!this.#isEnded) away(error as Error);
        nextMs = lookAwayMs;
      } finally {
        isLooking = false;
        if (!this.#isEnded) timer = setTimeout(() => void look(), nextMs).unref();
      }
    };
    this.on("error", (error: Error & { lastNodeError?: Error }) => {
      // The reason why no node could be asked, such as a wrong password or a Redis without cluster.
      if (!this.#isEnded) away(error.lastNodeError ?? error);
    });
    this.on("close", () => {
      if (!this.#isEnded) away(noNode());
    });
    // A missing node matters only if the cluster still has it as a master.
    for (const event of ["ready", "-node", "node error"])
      this.on(event, () => {
        if (this.status === "ready") void look();
      });
    this.on("end", () => clearTimeout(timer));
  }
}
