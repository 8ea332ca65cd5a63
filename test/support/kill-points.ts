/**
 * Loaded before the program (`node --import`), it ends the process with SIGKILL at one exact point in the life of one
 * operation. The program knows nothing of it: it looks at the statements that reach SQLite and at the bytes that pass
 * the sockets.
 *
 * KILL_POINT: a point of `killPoints`; KILL_KIND: the kind of the operation; KILL_OPERATION: its id, where the journal
 * holds it already.
 */
/* oxlint-disable typescript/unbound-method, typescript/no-unnecessary-type-assertion -- methods of prototypes are replaced here on purpose, and called with the `this` they were called with */
import { Socket } from "node:net";
import Database from "better-sqlite3";
import { Pool, type Dispatcher } from "undici";
import type { KillPoint } from "./kill-points-names.ts";

const point = process.env["KILL_POINT"] as KillPoint | undefined;
const kind = process.env["KILL_KIND"] ?? "";

/** The operations that are watched: those of the kind, from the moment when the journal gets them. */
const watched = new Set([process.env["KILL_OPERATION"] ?? ""].filter((id) => id !== ""));
/** What the transaction that is open now has done about a watched operation. */
let intentOpen = false;
let outcomeOpen = false;
/** The intent is on disk, so the next request is the one that matters. */
let armed = false;
let parsed = false;
let outcomes = 0;

function reached(here: KillPoint): void {
  if (point === here) process.kill(process.pid, "SIGKILL");
}

/** In settling: the first write about the operation after it was found cut off. */
function reachedAfterLookUp(): void {
  if (outcomes === 0) return;
  reached("in settling, after a look-up that shows it");
  reached("in settling, after a look-up that does not");
}

const prepare = Database.prototype.prepare;
Database.prototype.prepare = function watchedPrepare(this: Database.Database, sql: string) {
  const statement = prepare.call(this, sql);
  const before = watcherOf(sql.trimStart(), this) ?? transactionWatcher(sql);
  if (before === undefined) return statement;
  for (const name of ["run", "get"] as const) {
    const method = statement[name];
    const watched = (...values: unknown[]): unknown => {
      const after = before(values);
      const result: unknown = Reflect.apply(method, statement, values);
      after?.();
      return result;
    };
    Object.assign(statement, { [name]: watched });
  }
  return statement;
} as typeof prepare;

/**
 * What is to be done before a statement of the journal runs, and what it gives is to be done after it; undefined for
 * all others.
 */
function watcherOf(
  sql: string,
  database: Database.Database,
): ((values: unknown[]) => (() => void) | undefined) | undefined {
  const known = (value: unknown): value is string => typeof value === "string" && watched.has(value);
  if (sql.startsWith("insert into operation (")) {
    return (values) => {
      const [id] = values;
      if (!values.some(isKind) || typeof id !== "string") return undefined;
      reached("before the plan row");
      return () => watched.add(id);
    };
  }
  if (sql.startsWith("insert into attempt")) {
    return (values) => () => {
      if (known(values[0])) intentOpen = true;
    };
  }
  if (sql.startsWith("update operation set state = 'sending'")) {
    const kindOf = prepare.call(database, "select kind from operation where id = ?").pluck();
    return (values) => {
      const id = values.at(-1);
      // What waited for a person was planned by an earlier program.
      if (typeof id === "string" && isKind(kindOf.get(id))) watched.add(id);
      if (known(id)) reachedAfterLookUp();
      return undefined;
    };
  }
  if (sql.startsWith("update operation set evidence")) {
    return (values) => {
      if (known(values.at(-1))) reachedAfterLookUp();
      return undefined;
    };
  }
  if (sql.startsWith("update operation set state = @state")) {
    return ([named]) => {
      if (!known(typeof named === "object" && named !== null && "id" in named ? named.id : undefined)) return undefined;
      reachedAfterLookUp();
      outcomes += 1;
      return () => {
        outcomeOpen = true;
      };
    };
  }
  return undefined;
}

/** The kind stands by itself or among named values. */
function isKind(value: unknown): boolean {
  return value === kind || (typeof value === "object" && value !== null && Object.values(value).includes(kind));
}

const exec = Database.prototype.exec;
Database.prototype.exec = function watchedExec(this: Database.Database, sql: string) {
  const after = transactionWatcher(sql)?.();
  const result = exec.call(this, sql);
  after?.();
  return result;
};

/** The begin and the commit of a transaction that writes, whether prepared or not. */
function transactionWatcher(sql: string): (() => (() => void) | undefined) | undefined {
  switch (sql.trim().toLowerCase()) {
    case "begin immediate":
      return () => {
        if (parsed) reached("reply parsed");
        return undefined;
      };
    case "commit":
      return () => {
        if (intentOpen) reached("in the intent transaction");
        if (outcomeOpen) reached("in the outcome transaction");
        return committed;
      };
    default:
      return undefined;
  }
}

function committed(): void {
  if (intentOpen) {
    reached("after the intent");
    armed = true;
  }
  if (outcomeOpen) reached("after the outcome");
  intentOpen = false;
  outcomeOpen = false;
}

/** The request that is watched: what is expected of it, what was written of it, and the socket it goes over. */
let wire: { start: string; socket?: Socket; written: Buffer[] } | undefined;

const dispatch = Pool.prototype.dispatch;
Pool.prototype.dispatch = function watchedDispatch(
  this: Pool,
  options: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
) {
  if (!armed) return dispatch.call(this, options, handler);
  armed = false;
  wire = { start: `${options.method} ${options.path} `, written: [] };
  const end = handler.onResponseEnd?.bind(handler);
  handler.onResponseEnd = (controller, trailers) => {
    parsed = true;
    end?.(controller, trailers);
  };
  return dispatch.call(this, options, handler);
};

const write = Socket.prototype.write;
Socket.prototype.write = function watchedWrite(this: Socket, chunk: string | Uint8Array, ...rest: unknown[]) {
  const holdsBack = point === "half the request written" || point === "all written, nothing committed there";
  if (wire !== undefined && wire.socket === undefined && typeof chunk === "string" && chunk.startsWith(wire.start))
    wire.socket = this;
  if (!holdsBack || wire?.socket !== this) return Reflect.apply(write, this, [chunk, ...rest]) as boolean;
  wire.written.push(Buffer.from(chunk));
  const request = Buffer.concat(wire.written);
  if (!isWhole(request)) return true;
  while (this.writableCorked > 0) this.uncork();
  const bytes = point === "half the request written" ? request.subarray(0, request.length >> 1) : request;
  Reflect.apply(write, this, [bytes, () => process.kill(process.pid, "SIGKILL")]);
  return true;
} as typeof write;

function isWhole(request: Buffer): boolean {
  const text = request.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  const length = /\r\ncontent-length: (\d+)\r\n/iu.exec(text)?.[1];
  return end >= 0 && request.length >= end + 4 + Number(length ?? "0");
}

let halves = 0;
const read = Socket.prototype.read;
Socket.prototype.read = function watchedRead(this: Socket, size?: number): unknown {
  if (wire?.socket === this && halves > 0) reached("half the reply read");
  const chunk: unknown = read.call(this, size);
  if (wire?.socket !== this || !(chunk instanceof Uint8Array)) return chunk;
  reached("committed there, no reply");
  reached("in settling, after a resend");
  if (point !== "half the reply read") return chunk;
  halves += 1;
  return chunk.subarray(0, chunk.length >> 1);
};
