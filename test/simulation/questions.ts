import { rowsOf } from "../support/world/start.ts";

/** A hold as the ledger has it; `changed`: a record that it is about is not the one that was shown. */
export interface Hold {
  id: number;
  kind: string;
  customer: string;
  state: string;
  why: string | null;
  records: string;
  changed: number;
  askedAnew: number;
}

const holds = `select h.id, h.kind, h.customer_id as customer, h.state, h.ended_why as why, h.records,
  exists (select 1 from json_each(h.records) one left join record r on r.stream = one.value ->> 'stream'
    and r.namespace = one.value ->> 'namespace' and r.id = one.value ->> 'id'
    where coalesce(r.version, 0) || ' ' || coalesce(r.changed_at, '') || ' ' || (r.state is 'absent')
      is not one.value ->> 'mark') as changed,
  exists (select 1 from hold n, json_each(n.records) its, json_each(h.records) one
    where n.id > h.id and n.state in ('asked', 'approved', 'rejected') and n.of_undo = h.of_undo
      and n.customer_id = h.customer_id and its.value ->> 'id' = one.value ->> 'id'
      and its.value ->> 'stream' = one.value ->> 'stream') as askedAnew from hold h`;

/** What was sent although a person was asked about exactly that and did not answer, or said no. */
const sentUnasked = `select o.id, o.kind, o.customer_id as customer, h.state from operation o
  join hold h on h.customer_namespace = o.customer_namespace and h.customer_id = o.customer_id and h.kind = o.kind
    and h.hash = o.hash and h.of_undo = (o.plan_id is not null) and h.state in ('asked', 'rejected')
  where o.takes_away > 0 and exists (select 1 from attempt a where a.operation_id = o.id and a.started_at >= h.asked_at
    and a.started_at > coalesce((select max(d.at) from decision d where d.hold_id = h.id), ''))`;

const sentUnapproved = `select o.id, o.kind, o.customer_id as customer from operation o
  where o.takes_away > 0 and o.approved = 0 and o.plan_id is null and o.state = 'done' and o.kind like 'delete-%'
    and o.kind <> 'delete-staff' and exists (select 1 from attempt a where a.operation_id = o.id and a.started_at >= ?)`;

const unanswered = `select id, kind, state from hold h where state in ('approved', 'used')
  and not exists (select 1 from decision d where d.hold_id = h.id and d.verdict = 'approve')`;

/** Watches what becomes of the questions of a ledger while it runs: only a person answers one. */
export class Questions {
  readonly #path: string;
  /** Whether the platform has what is to be removed, and the CRM does not want it. */
  readonly #isStillWanted: (hold: Hold) => boolean;
  /** Which settings counted when a hold was seen first. */
  readonly #settings = new Map<number, number>();
  #asked: readonly number[] = [];

  constructor(path: string, isStillWanted: (hold: Hold) => boolean = () => false) {
    this.#path = path;
    this.#isStillWanted = isStillWanted;
  }

  /** A run begins. */
  begin(): void {
    this.#asked = rowsOf<{ id: number }>(this.#path, "select id from hold where state = 'asked'").map(({ id }) => id);
  }

  /**
   * A run has ended; answers what is wrong. `since`: when it began, ISO, where every removal of an order needs a person.
   * `settings`: a number for the settings that count now.
   */
  end(settings: number, since: string | undefined): string[] {
    const wrong: string[] = [];
    const all = rowsOf<Hold>(this.#path, holds);
    for (const { id } of all) if (!this.#settings.has(id)) this.#settings.set(id, settings);
    for (const hold of all) {
      if (!this.#asked.includes(hold.id) || hold.state === "asked") continue;
      const text = `${hold.kind} of ${hold.customer} (hold ${hold.id}) is ${hold.state}: ${hold.why ?? ""}`;
      const isMeant = hold.changed === 1 || hold.askedAnew === 1 || this.#settings.get(hold.id) !== settings;
      if (hold.state !== "moot" || (!isMeant && this.#isStillWanted(hold))) wrong.push(`no person answered: ${text}`);
    }
    for (const row of rowsOf(this.#path, unanswered)) wrong.push(`nobody approved ${JSON.stringify(row)}`);
    for (const row of rowsOf(this.#path, sentUnasked)) wrong.push(`sent while it is held: ${JSON.stringify(row)}`);
    if (since !== undefined)
      for (const row of rowsOf(this.#path, sentUnapproved, since))
        wrong.push(`removed without a person: ${JSON.stringify(row)}`);
    return wrong;
  }

  /** What is still held when everything is answered and carried out. */
  left(): string[] {
    const standing =
      "select id, kind, state from hold where state in ('asked', 'approved', 'rejected') and of_undo = 0";
    return rowsOf(this.#path, standing).map((row) => `still held at the end: ${JSON.stringify(row)}`);
  }
}
