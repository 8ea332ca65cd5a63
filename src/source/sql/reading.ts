import { Problem } from "../../base/errors.ts";
import { readJoined, type JoinedPart } from "../joined.ts";
import { keyReader, toItem } from "../json.ts";
import {
  changed,
  type FileItem,
  type ReadOptions,
  type ReadOutcome,
  type SourceItem,
  type Staging,
} from "../reader.ts";
import { isClean } from "../without-secrets.ts";
import { DatabaseFailure, type Cell, type Dialect, type Snapshot } from "./dialect.ts";
import { databaseProblem, type About } from "./failures.ts";
import {
  detailsOfChanged,
  statementOf,
  type ChangedFrom,
  type Part,
  type Query,
  type Question,
  type StreamSettings,
} from "./query.ts";
import { boundOf, Newest, rowReader } from "./values.ts";

/** A database that is open, and how its SQL is spoken. */
export interface Open {
  dialect: Dialect;
  snapshot: Snapshot;
}

/**
 * The one view that all streams of a source are read in. It is opened when something is read first and stays until
 * `end`: what one stream shows belongs to what another one shows. Once its connection is lost, what is left is not read
 * from a later view, but in the next run.
 */
export class View {
  readonly #about: About;
  readonly #dialect: () => Promise<Dialect>;
  #open: Promise<Open> | undefined;
  #lost: Problem | undefined;

  constructor(about: About, dialect: () => Promise<Dialect>) {
    this.#about = about;
    this.#dialect = dialect;
  }

  /** Opens it, or gives the one that is open. Throws a Problem. */
  async open(): Promise<Open> {
    if (this.#lost !== undefined) throw this.#lost;
    this.#open ??= this.#opened();
    try {
      return await this.#open;
    } catch (thrown) {
      throw this.fail(thrown, this.#about);
    }
  }

  /** What was thrown, as a problem. A view that cannot be asked any more is lost with it. */
  fail(thrown: unknown, about: About): Problem {
    const problem = thrown instanceof Problem ? thrown : databaseProblem(thrown, about);
    const kind = thrown instanceof DatabaseFailure ? thrown.failure.kind : undefined;
    if (kind === "lost" || kind === "down") this.#lost ??= problem;
    return problem;
  }

  /** Lets go of the view, in the middle of a statement too. The next one begins anew. */
  async end(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    this.#lost = undefined;
    const { snapshot } = (await open?.catch(() => undefined)) ?? {};
    // Whatever is wrong with what is let go of is nobody's concern any more.
    await snapshot?.close().catch(() => undefined);
  }

  async #opened(): Promise<Open> {
    const dialect = await this.#dialect();
    return { dialect, snapshot: await dialect.open() };
  }
}

/** What reading a stream needs. */
export interface Asking {
  /** What places of its records begin with. */
  name: string;
  settings: StreamSettings;
  zone: string | undefined;
  staging: Staging;
  open: () => Promise<Open>;
  question: (open: Open) => Promise<Question>;
  failed: (thrown: unknown, query: Query) => Problem;
}

/** Reads a stream; whatever keeps it from being read is the outcome's problem. */
export async function* readStream(
  asking: Asking,
  options: ReadOptions,
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  let open: Open;
  let question: Question;
  try {
    open = await asking.open();
    question = await asking.question(open);
  } catch (thrown) {
    if (thrown instanceof Problem)
      return { complete: false, full: options.since === undefined, rows: 0, problem: thrown };
    throw thrown;
  }
  const changes = new Changes(asking, question, open, options.since);
  return yield* Object.keys(question.details).length === 0
    ? readPlain(asking, question, open, changes, options)
    : joined(asking, question, open, changes, options);
}

/** What is asked for of a stream whose changes can be told, and where the next reading of changes begins. */
class Changes {
  readonly from: ChangedFrom | undefined;
  /** What was asked for, where it is changes. */
  readonly #asked: string | undefined;
  readonly #newest: Newest | undefined;
  readonly #at: number;
  readonly #zone: string | undefined;
  readonly #openedAt: string;

  constructor(
    { settings, zone }: Asking,
    { header, changed }: Question,
    { snapshot }: Open,
    since: string | undefined,
  ) {
    this.#zone = zone;
    this.#openedAt = snapshot.openedAt;
    this.#at = changed === undefined ? -1 : header.columns.indexOf(changed);
    this.#newest = changed === undefined ? undefined : new Newest(changed);
    const bound =
      changed === undefined || since === undefined || settings.since === undefined
        ? undefined
        : boundOf(since, changed, settings.since.overlap, zone);
    this.from = bound === undefined || changed === undefined ? undefined : { column: changed.name, time: bound };
    this.#asked = bound === undefined ? undefined : since;
  }

  see(cells: readonly Cell[]): void {
    this.#newest?.see(cells[this.#at] ?? null);
  }

  /** Undefined where nothing tells: then the next reading asks for everything. */
  get cursor(): string | undefined {
    return this.#newest?.value(this.#openedAt, this.#zone) ?? this.#asked;
  }
}

function readPlain(
  asking: Asking,
  { header }: Question,
  open: Open,
  changes: Changes,
  options: ReadOptions,
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const { from } = changes;
  const statement = statementOf(header.query, { from, order: orderOf(header) }, open.dialect);
  const keyOf = keyReader(asking.settings.key);
  const full = from === undefined;
  let rows = 0;
  return changed(
    partRows(asking, header, open, statement, options, (cells) => changes.see(cells)),
    {
      batch: (items) => {
        rows += items.length;
        return items.map((item) => ("bad" in item ? item : toItem(item.row, keyOf)));
      },
      end: (problem) => {
        const { cursor } = changes;
        if (problem !== undefined) return { complete: false, full, rows, problem };
        return { complete: true, full, rows, ...(cursor === undefined ? {} : { cursor }) };
      },
      left: undefined,
    },
  );
}

/**
 * Whether a key may stand in places. One that a private field is read from, and one that is an e-mail
 * address or a phone number, also in digits alone where it is a text, is personal.
 */
function isTold(cell: Exclude<Cell, null>, { key, isKeyPrivate }: Part): boolean {
  if (isKeyPrivate) return false;
  const text = String(cell);
  const isText = typeof cell === "string" && (key?.kind === "text" || key?.kind === "any");
  return isClean(text) && !(isText && /^[\d ()./-]{7,24}$/u.test(text));
}

/** The column of the key, where rows can be read in its order. */
function orderOf({ key }: Part): string | undefined {
  return key === undefined || key.kind === "json" ? undefined : key.name;
}

/** Records with their details: of the changed ones alone, where changes are asked for. */
function joined(
  asking: Asking,
  question: Question,
  open: Open,
  changes: Changes,
  options: ReadOptions,
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const { header, details } = question;
  const { settings, staging } = asking;
  const { dialect } = open;
  const { from } = changes;
  const partOf = (part: Part, key: string, statement: string, see?: (cells: readonly Cell[]) => void): JoinedPart => ({
    key,
    read: () => partRows(asking, part, open, statement, options, see),
  });
  const headers = { query: header.query, column: header.key?.name ?? "" };
  const reading = readJoined(
    {
      header: partOf(
        header,
        settings.key ?? "",
        statementOf(header.query, { from, order: orderOf(header) }, dialect),
        (cells) => changes.see(cells),
      ),
      details: Object.fromEntries(
        Object.entries(details).map(([name, part]) => {
          const set = { query: part.query, column: part.key?.name ?? "" };
          const statement =
            from === undefined
              ? statementOf(part.query, {}, dialect)
              : detailsOfChanged(set, { ...headers, from }, dialect);
          return [name, partOf(part, settings.details?.[name]?.key ?? "", statement)];
        }),
      ),
      limits: settings.limits,
      staging,
      changesOnly: from !== undefined,
    },
    options,
  );
  return withCursor(reading, changes);
}

async function* withCursor(
  reading: AsyncGenerator<SourceItem[], ReadOutcome, void>,
  changes: Changes,
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const outcome = yield* reading;
  const { cursor } = changes;
  return outcome.complete && outcome.shrunk === undefined && cursor !== undefined ? { ...outcome, cursor } : outcome;
}

/** The rows of one query as records; returns why they were not read whole. */
async function* partRows(
  { name, settings, zone, failed }: Asking,
  part: Part,
  { snapshot }: Open,
  statement: string,
  { batchSize = 500, signal }: ReadOptions,
  see: (cells: readonly Cell[]) => void = () => undefined,
): AsyncGenerator<FileItem[], Problem | undefined, void> {
  const { query, columns, key } = part;
  const read = rowReader(columns, { zone, limits: settings.limits });
  const keyAt = key === undefined ? -1 : columns.indexOf(key);
  const set = query.settings.split(".").slice(4).join(".");
  const place = set === "" ? name : `${name}/${set}`;
  let count = 0;
  const rows = snapshot.rows(statement, columns, batchSize);
  try {
    for (;;) {
      let next: IteratorResult<Cell[][], void>;
      try {
        next = await rows.next();
      } catch (thrown) {
        signal?.throwIfAborted();
        return failed(thrown, query);
      }
      // What was ended in its middle may look as if it had come to its end.
      signal?.throwIfAborted();
      if (next.done === true) return undefined;
      yield next.value.map((cells): FileItem => {
        count += 1;
        see(cells);
        const cell = cells[keyAt] ?? null;
        const at =
          cell === null || !isTold(cell, part)
            ? `${place}, row ${count}`
            : `${place}, ${key?.name} ${String(cell).slice(0, 200)}`;
        const item = read(cells, at);
        return "bad" in item && cell !== null ? { bad: { ...item.bad, key: String(cell).slice(0, 200) } } : item;
      });
    }
  } finally {
    await rows.return();
  }
}
