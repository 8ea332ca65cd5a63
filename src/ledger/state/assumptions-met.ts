import { z } from "zod";
import type { AssumptionId } from "../../contract/assumptions.ts";
import { isAssumptionId, type AssumptionMet, type Contradiction } from "../../engine/model/assumptions-met.ts";
import type { LedgerContext } from "../context.ts";
import { prepared, sql, table } from "../database/statements.ts";

const keptEvidence = z.object({ text: z.string(), about: z.array(z.string()) });

export function evidenceOf(kept: string): z.infer<typeof keptEvidence> {
  return keptEvidence.parse(JSON.parse(kept));
}

/** Contradicted assumptions (A1–A43). Nothing that depends on one is sent from its commit on. */
export class AssumptionsMet {
  readonly #context: LedgerContext;
  readonly #statements;
  #incomplete: Set<string> | undefined;
  #contradictions: Map<AssumptionId, Contradiction> | undefined;

  constructor(context: LedgerContext) {
    this.#context = context;
    this.#statements = prepared(context.database, texts);
  }

  /** Contradictions that nobody accepted. Cached until `refresh`, because people accept them meanwhile. */
  get contradictions(): ReadonlyMap<AssumptionId, Contradiction> {
    this.#contradictions ??= this.standing();
    return this.#contradictions;
  }

  refresh(): void {
    this.#contradictions = undefined;
  }

  /** As they are now, also after another program changed them. */
  standing(): Map<AssumptionId, Contradiction> {
    const found = new Map<AssumptionId, Contradiction>();
    for (const { row, evidence, first_at } of this.#context.read(() => this.#statements.standing.all())) {
      const { text, about } = evidenceOf(evidence);
      if (isAssumptionId(row)) found.set(row, { evidence: text, about, since: first_at });
    }
    return found;
  }

  async met(all: readonly AssumptionMet[], operationId: string | null = null): Promise<void> {
    for (const met of all) await this.#contradicted(met, operationId);
  }

  /** Like `met`, for lasting facts: does not contradict an accepted part again. */
  async stands(all: readonly AssumptionMet[]): Promise<void> {
    if (all.length === 0) return;
    const unknown = all.filter(({ row, about }) => {
      const before = this.#context.read(() => this.#statements.of.get(row));
      const known = before && evidenceOf(before.evidence).about;
      return known === undefined || (known.length > 0 && !known.includes(about ?? ""));
    });
    await this.met(unknown);
  }

  async #contradicted({ row, evidence, about }: AssumptionMet, operationId: string | null): Promise<void> {
    await this.#context.write(() => {
      const at = this.#context.now;
      const before = this.#statements.of.get(row);
      const stands = before !== undefined && before.accepted_at === null;
      const earlier = stands ? evidenceOf(before.evidence).about : [];
      const isWhole = about === undefined || (stands && earlier.length === 0);
      const parts = isWhole ? [] : [...new Set([...earlier, about])].sort();
      this.#statements.contradict.run(row, at, at, JSON.stringify({ text: evidence, about: parts }), operationId);
      if (!stands || parts.length !== earlier.length)
        this.#context.audit.append({
          at,
          kind: "assumption-contradicted",
          subject: `assumption:${row}`,
          body: { row, evidence, about: parts, ...(operationId === null ? {} : { operation: operationId }) },
        });
    });
    this.refresh();
  }

  /** Counts an incomplete list of staff. Returns how many in a row this enterprise had. */
  async incompleteList(enterpriseGlobalId: string): Promise<number> {
    const key = listKey(enterpriseGlobalId);
    const count = await this.#context.write(() => Number(this.#statements.oneMore.get(key)?.value ?? 1));
    this.#incomplete?.add(key);
    return count;
  }

  async wholeList(enterpriseGlobalId: string): Promise<void> {
    this.#incomplete ??= new Set(
      this.#context.read(() => this.#statements.incomplete.all(lists, afterLists)).map((row) => row.key),
    );
    const key = listKey(enterpriseGlobalId);
    if (this.#incomplete.delete(key)) await this.#context.write(() => void this.#statements.wholeAgain.run(key));
  }

  /** False if nothing is contradicted. `requireMeant` throws if the person saw another contradiction. */
  async accept(
    row: AssumptionId,
    { by, reason }: { by: string; reason: string },
    requireMeant: (standing: Contradiction) => void = () => {},
  ): Promise<boolean> {
    const ended = await this.#context.write(() => {
      const standing = this.standing().get(row);
      if (standing !== undefined) requireMeant(standing);
      const at = this.#context.now;
      if (this.#statements.accept.run(at, by, reason, row).changes === 0) return false;
      const body = { row, by, reason };
      this.#context.audit.append({ at, kind: "assumption-accepted", subject: `assumption:${row}`, body });
      return true;
    });
    this.refresh();
    return ended;
  }
}

const [lists, afterLists] = ["incomplete-lists ", "incomplete-lists!"] as const;

function listKey(enterpriseGlobalId: string): string {
  return `${lists}${enterpriseGlobalId}`;
}

const texts = {
  standing: sql<[], AssumptionMetTable>`select * from assumption_met where accepted_at is null`,
  of: sql<[string], AssumptionMetTable>`select * from assumption_met where row = +?`,
  contradict: sql<[string, string, string, string, string | null]>`
    insert into assumption_met (row, count, first_at, last_at, evidence, operation_id)
      values (?, 1, ?, ?, ?, ?)
      on conflict (row) do update set count = count + 1, last_at = excluded.last_at,
      first_at = iif(accepted_at is null, first_at, excluded.first_at), evidence = excluded.evidence,
      operation_id = excluded.operation_id, accepted_at = null, by = null, reason = null`,
  oneMore: sql<[string], { value: string }>`insert into meta (key, value) values (?, '1')
    on conflict (key) do update set value = cast(value as integer) + 1 returning value`,
  incomplete: sql<[string, string], { key: string }>`select key from meta where key >= ? and key < ?`,
  wholeAgain: sql<[string]>`delete from meta where key = +?`,
  accept: sql<[string, string, string, string]>`update assumption_met set accepted_at = ?, by = ?, reason = ?
    where row = +? and accepted_at is null`,
};

export interface AssumptionMetTable {
  row: string;
  count: number;
  first_at: string;
  last_at: string;
  evidence: string;
  operation_id: string | null;
  accepted_at: string | null;
  by: string | null;
  reason: string | null;
}

export const assumptionTables = { assumption_met: table<AssumptionMetTable>() };
