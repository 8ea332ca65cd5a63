import type { Json } from "../../base/canonical-json.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
import { formatKey, parseKey, subjectOf } from "../../crm/keys.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import { passwordRefsBegin } from "../../engine/model/references.ts";
import type { LedgerContext } from "../context.ts";
import { overwriteFreed } from "../database/open-files.ts";
import { stored } from "../database/damage.ts";
import { eraseTexts, replacing, textsIn, mentionsIn, shownSubject, tellingTexts } from "./erased-texts.ts";
import {
  ErasureTables,
  type Erasable,
  type OpenOperation,
  type RecordOfErasable,
  type RecordOfSource,
  type ShownEntry,
  type StandingOnPlatform,
} from "./erasure-tables.ts";
import { bytesLeft } from "./private-tables.ts";

export type { Erasable } from "./erasure-tables.ts";

export interface ErasedCounts {
  values: number;
  rawForms: number;
  answers: number;
  passwords: number;
  texts: number;
}

export interface Erased {
  of: string;
  counts: ErasedCounts;
  people: RecordKey[];
  /** Records that the CRM still has, without raw form now. A change brings a new one. */
  stillCurrent: { stream: Stream; key: RecordKey; source: string }[];
  /** Unreadable rows in which a source still has the data. */
  unreadableRows: string[];
  /** Customers that contain the data in their current values, such as the administrator's name. These values stay. */
  namedBy: { stream: Stream; key: RecordKey; source: string }[];
  standing: StandingOnPlatform[];
  /** Earlier displays of personal data that may be this data. */
  shown: ShownEntry[];
  /** Undefined if there was nothing left to erase. */
  entry: { sequence: number; at: string } | undefined;
}

export class Erasure {
  readonly #context: LedgerContext;
  readonly #tables: ErasureTables;

  constructor(context: LedgerContext) {
    this.#context = context;
    this.#tables = new ErasureTables(context.database);
  }

  /**
   * Wipes all private values, and copies of them in other texts, in one transaction with the audit entry. Without salts
   * nobody can guess a commitment, and no proof needs them. Throws a Problem if the CRM still has the record, if work
   * for it is open, or if `reason` or `by` contains personal data.
   */
  async erase(whose: Erasable, { by, reason }: { by: string; reason: string }): Promise<Erased> {
    // SQLite overwrites replaced values in their pages at once.
    this.#context.database.pragma("secure_delete = on");
    return await this.#context.write(() => {
      const records = this.#tables.recordsOf(whose);
      this.#requireErasable(whose, records);
      const texts = this.#textsOf(records);
      requireNoneIn(`${reason}\n${by}`, texts);
      const { counts, unreadableRows, given, namedBy, forms } = this.#wipe(whose, records, texts);
      for (const record of records) this.#tables.forgetForms(record);
      for (const record of records.filter(({ state }) => state === "absent")) this.#tables.emptyPlaces(record);
      const entry = this.#note(whose, counts, { by, reason });
      return {
        of: nameOf(whose),
        counts,
        people: records.filter(({ stream }) => stream === "staff"),
        stillCurrent: [...records.filter(({ state }) => state !== "absent"), ...given].map(recordOf),
        unreadableRows,
        namedBy: namedBy.map(recordOf),
        standing: this.#tables.standingOnPlatform(whose),
        shown: this.#tables.shownEntries([
          ...persons(whose, records).map(nameOf),
          ...forms.map(shownSubject),
          ...this.#tables.operationsOf(whose).map((id) => `operation:${id}`),
        ]),
        entry,
      };
    });
  }

  /** Overwrites erased bytes in the file. Returns the reason if that failed; the next call tries again. */
  async overwrite(): Promise<string | undefined> {
    if (this.#context.meta(bytesLeft) === undefined) return undefined;
    const problem = overwriteFreed(this.#context.database);
    if (problem !== undefined) return problem;
    await this.#context.write(() => this.#context.database.prepare("delete from meta where key = +?").run(bytesLeft));
    return undefined;
  }

  #requireErasable(whose: Erasable, records: readonly RecordOfErasable[]): void {
    const name = nameOf(whose);
    const current = records.find(({ stream, state }) => stream !== "orders" && state !== "absent");
    if (current !== undefined) {
      const { stream, namespace, id, source } = current;
      throw refused(
        "erase.current",
        `nothing was erased: the source ${source} still has ${subjectOf(stream, { namespace, id })}, so the next ` +
          "run would store it again",
        `delete the record in that source first. After runs have noticed the deletion, erase ${name}`,
      );
    }
    const [form] = persons(whose, records).flatMap((one) => this.#tables.waitingForms(one));
    if (form !== undefined)
      throw refused(
        "erase.in-quarantine",
        `nothing was erased: the source ${form.source} still has a row of ${name}, which is in quarantine ` +
          `(${form.id}, ${form.place})`,
        `remove the row from that source first, run the job that reads it, then erase ${name}`,
      );
    if (records.length === 0 && this.#tables.quarantineForms(whose).length === 0)
      throw refused(
        "record.unknown",
        `no source has given ${name}`,
        "check the id, and the namespace before the slash",
      );
    const open = this.#tables.openOperation(whose);
    if (open !== undefined) throw stillOpen(open, name);
    const asked = "customer" in whose ? this.#tables.dueRequest(whose.customer) : undefined;
    if (asked !== undefined)
      throw refused(
        "erase.request-due",
        `nothing was erased: a request for ${name} is not sent yet: ${asked}`,
        `run the job, which sends the request, or withdraw the request; then erase ${name}`,
      );
    const pending = records.find(({ stream, pending: waits }) => stream !== "orders" && waits === 1);
    if (pending !== undefined)
      throw refused(
        "erase.pending",
        `nothing was erased: the removals of ${subjectOf(pending.stream, pending)} are not finished yet`,
        `approve the removals if they are held (\`crm-sync status\`) and run the job that makes them. Then erase ${name}`,
      );
  }

  #textsOf(records: readonly RecordOfErasable[]): Set<string> {
    const refs = records.filter(({ stream }) => stream !== "orders").map(refOf);
    return textsIn(this.#tables.bodies(refs).map((body) => stored<Json>(body)));
  }

  #wipe(
    whose: Erasable,
    records: readonly RecordOfErasable[],
    texts: ReadonlySet<string>,
  ): Pick<Erased, "counts" | "unreadableRows"> & Record<"given" | "namedBy", RecordOfSource[]> & { forms: string[] } {
    const run = this.#tables;
    const telling = tellingTexts(run.bodies(records.filter(({ stream }) => stream !== "orders").map(refOf)));
    const at = this.#context.now;
    const wipe = (found: readonly { ref: string; version: number }[]): number => {
      for (const one of found) run.wipe(one, at);
      return found.length;
    };
    const refs = records.map(refOf);
    const gone = records.filter(({ state }) => state === "absent").map(refOf);
    const people = records.filter(({ stream }) => stream === "staff");
    const unreadable = this.#unreadable(texts);
    const values = wipe(run.kept(gone, []));
    const quarantined = persons(whose, records).flatMap((one) => run.quarantineForms(one));
    const forms = run.kept([...refs.map((ref) => `raw:${ref}`), ...quarantined, ...unreadable.refs], []);
    const former = "customer" in whose ? run.formerForms(whose.customer) : [];
    const rawForms = wipe(forms) + wipe(former.filter((one) => !forms.some((form) => isSame(form, one))));
    const answers = wipe(
      run.kept(
        run.operationsOf(whose).map((id) => `answer/${id}`),
        [],
      ),
    );
    const passwords = wipe(run.kept([], people.flatMap(passwordRefsBegin)));
    // Other records may contain the data, such as orders of the person or answers about somebody else.
    const found = mentionsIn(run.ofOthers(), telling);
    const mentions = found.filter(({ isGiven }) => isGiven === 0);
    const counted = (beginning: string): number => mentions.filter(({ ref }) => ref.startsWith(beginning)).length;
    const namedBy = found.filter(({ isGiven }) => isGiven === 1).flatMap(({ ref }) => run.givenRecord(ref) ?? []);
    const places = mentions.flatMap(({ ref }) => run.givenRow(ref) ?? []);
    const given = mentions.flatMap(({ ref }) => run.givenRecord(ref) ?? []);
    for (const { ref } of mentions) this.#requireSettled(ref);
    wipe(mentions);
    const words = eraseTexts(this.#context.database, run.customersOf(whose, records), texts);
    return {
      counts: {
        values: values + counted("customers/"),
        rawForms: rawForms + counted("raw:") + counted("quarantine/"),
        answers: answers + counted("answer/"),
        passwords,
        texts: words,
      },
      unreadableRows: [...unreadable.places, ...places],
      given: [...new Map(given.map((record) => [formatKey(record) + record.stream, record])).values()],
      namedBy,
      forms: [...quarantined, ...unreadable.refs, ...mentions.map(({ ref }) => ref)],
    };
  }

  /** Throws a Problem if an open operation of a customer may need its former values. */
  #requireSettled(ref: string): void {
    if (!ref.startsWith("customers/")) return;
    const customer = parseKey(ref.slice("customers/".length));
    const open = this.#tables.openOperation({ customer });
    if (open !== undefined) throw stillOpen(open, `the customer ${formatKey(customer)}`);
  }

  #unreadable(texts: ReadonlySet<string>): { refs: string[]; places: string[] } {
    const without = replacing([...texts].filter((text) => text.length >= leastInUnreadable));
    const refs: string[] = [];
    const places: string[] = [];
    for (const { ref, body, place } of this.#tables.formsOfNobody()) {
      if (without(body) === body) continue;
      refs.push(ref);
      if (place !== null) places.push(place);
    }
    return { refs, places };
  }

  #note(whose: Erasable, counts: ErasedCounts, { by, reason }: { by: string; reason: string }): Erased["entry"] {
    if (Object.values(counts).every((count) => count === 0)) return undefined;
    const at = this.#context.now;
    const { database } = this.#context;
    database
      .prepare("insert into meta (key, value) values (?, ?) on conflict do nothing")
      .run(bytesLeft, nameOf(whose));
    const { sequence } = this.#context.audit.append({
      at,
      kind: "erased",
      subject: nameOf(whose),
      body: { by, reason, ...counts },
    });
    return { sequence, at };
  }
}

/** A shorter text in an unreadable row may mean something else. */
const leastInUnreadable = 4;

const cures: Readonly<Record<string, string>> = {
  planned: "run the job, which sends or drops this operation",
  sending: "run the job, which finds its outcome",
  unknown: "run the job, which finds its outcome; if it needs a person: `crm-sync settle list`",
  parked: "decide its outcome: `crm-sync settle list`",
  held: "approve or reject its hold, which `crm-sync status` shows",
};

function stillOpen({ id, endpoint, subject, state }: OpenOperation, of: string): Problem {
  return refused(
    "erase.open-operation",
    `nothing was erased: the operation ${id} (${endpoint} on ${subject}) is ${state} and may need the data of ${of}`,
    `${cures[state] ?? ""}. Then erase ${of}`,
  );
}

function recordOf({ stream, namespace, id, source }: RecordOfSource): Erased["stillCurrent"][number] {
  return { stream, key: { namespace, id }, source };
}

function refOf({ stream, namespace, id }: RecordOfErasable): string {
  return `${stream}/${formatKey({ namespace, id })}`;
}

function persons(whose: Erasable, records: readonly RecordOfErasable[]): Erasable[] {
  if ("person" in whose) return [whose];
  const people = records.filter(({ stream }) => stream === "staff");
  return [whose, ...people.map(({ namespace, id }) => ({ person: { namespace, id } }))];
}

function nameOf(whose: Erasable): string {
  return "customer" in whose ? subjectOf("customers", whose.customer) : subjectOf("staff", whose.person);
}

function isSame(one: { ref: string; version: number }, other: { ref: string; version: number }): boolean {
  return one.ref === other.ref && one.version === other.version;
}

/** The audit log keeps both for good. */
function requireNoneIn(words: string, texts: ReadonlySet<string>): void {
  if (replacing([...texts])(words) === words) return;
  throw refused(
    "erase.reason-names",
    "nothing was erased: --reason or --by contains personal data, and the audit log would keep it for good",
    "write ids of people and customers instead of names, then erase again",
  );
}

function refused(code: string, message: string, cure: string): Problem {
  return new Problem({ code, message, cure, exitCode: exitCodes.usage });
}
