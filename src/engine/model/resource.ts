/**
 * The one interface between the engine and a resource (enterprise, order, staff, assignment, lock, loan). An operation
 * type has ten members; what only some need is a capability, under `can`. A resource leaves out what it does not have.
 *
 * A resource adds its own types by `declare module`: to `OperationShapes`, `ChangeShapes`, `RequestTypes` and
 * `ResourceTables` here, to `Known` of state.ts and to `ExplainFacts` of report/explain.ts. It is enough that
 * the file is part of the program. `Operation`, `StateChange`, `LedgerTables` and so on are made of these, so that the
 * compiler knows each payload, and refuses a name that two resources use.
 */
import type { Kysely } from "kysely";
import type { CustomerState, EngineDependencies } from "../customer.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Snapshot, ObservedAsset, ObservedMember } from "../../platform/snapshot.ts";
import type { ReadOptions, Reads } from "../plan/reads.ts";
import type { DoneOperation, UndoFacts, Undoing, LastGiven, UndoRule } from "../plan/undo.ts";
import type { z } from "zod";
import type { Json } from "../../base/canonical-json.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Sqlite } from "../../ledger/database/database.ts";
import type { Table } from "../../ledger/database/table.ts";
import type { Held } from "../../ledger/state/held.ts";
import type { LedgerRows } from "../../ledger/state/registry.ts";
import type { LedgerTables } from "../../ledger/tables.ts";
import type { Desired, DesiredStaff, OrderWithTree } from "./desired.ts";
import type { OperationType } from "./operation-type.ts";
import type { DraftOperation, Operation } from "./operation.ts";
import type { Policies } from "./policy.ts";
import type { Requested, RequestShapes, Verdict, RequestIn, RequestOf } from "./requests.ts";
import type { Known, StateChange } from "./state.ts";
import type { StatePart } from "./state-part.ts";
import type { TakenThing } from "./taking.ts";
import type { Block, BlockedRecord } from "../plan/block.ts";
import type { Concern, CustomerInput, LoadedCustomer, PlanOptions, Planned, Prepared } from "../plan/input.ts";
import type { ReadBack } from "../plan/read-back.ts";
import type { ExplainFacts, ResourceEvent } from "../../report/explain.ts";
import type { Comparison, CustomerCase, ReconciliationView } from "../../report/reconciliation/case.ts";

/** Payload, target, before, after and context of each operation type, by its name in the journal. */
// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface OperationShapes {}
export type OperationName = keyof OperationShapes;

/** What an outcome or a reading changes in what is recorded, by type. */
// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface ChangeShapes {}

/** What can be requested, the facts that are kept of it and what a service answers, by the name of a request. */
// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface RequestTypes {}

/** The rows of each table of a resource, by its name. */
// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface ResourceTables {}

/** What resources before this one planned for the same customer, and the engine's own part in planning. */
export interface Earlier extends Planned {
  /**
   * Makes operations of drafts. `left` are those that a policy, a rejection or a contradicted assumption stops;
   * `refused` has the reason for each of their records.
   */
  make: (drafts: readonly DraftOperation[]) => {
    operations: Operation[];
    left: Operation[];
    refused: BlockedRecord[];
  };
  /** Whether the part with this hash of an operation with several was rejected: alone, or together with others of it. */
  rejectedPart: (type: OperationName, hash: string) => { alone?: Block; together?: string };
}

/** What a resource plans for a customer; what it leaves out of what later resources are given stays as it was. */
export interface ResourcePlan extends Partial<Pick<Planned, "endingNumbers" | "memberships" | "notes">> {
  /** Which records its blocks are about. */
  records: "customers" | "orders" | "staff";
  operations: Operation[];
  /** What is learned without an operation: something is adopted, or found gone. */
  changes: StateChange[];
  /** Records of which something is not done, with the reason; the first reason of a record counts. */
  blocks: BlockedRecord[];
  /** Why the customer and everything under it wait. */
  stops?: Block | undefined;
  /** What is only worth noting of the customer. */
  note?: Block | undefined;
}

/** A person, with the account and the assets that the platform shows. */
export interface ShownPerson {
  person: Desired<DesiredStaff>;
  member: Pick<ObservedMember, "globalId" | "assetNums">;
  assets: readonly ObservedAsset[];
}

/** What is recorded of a resource: in memory by `changes`, in the ledger by `open`. Both must come to the same. */
export interface StateStore<Type extends keyof ChangeShapes, Rows extends StateRows = StateRows> {
  readonly tables: Readonly<Record<string, Table<object>>>;
  /** Its fields of `Known` for a customer of whom nothing is recorded. */
  readonly nothing: Partial<Known>;
  readonly changes: { readonly [T in Type]: StatePart<Known, ChangeShapes[T]> };
  /** What a saved plan depends on, by a word and an id; and what is said if that changed, is missing or is new. */
  readonly facts: {
    readonly [word: string]: {
      readonly of: (known: Known) => (readonly [id: string, fact: Json])[];
      readonly moved: (id: string) => [changed: string, missing: string, isNew: string];
    };
  };
  /** What else of a loaded customer differs after changes, beside `Known`. */
  readonly learned?: (loaded: LoadedCustomer, changes: readonly StateChange[]) => Partial<LoadedCustomer>;
  /** SQL by the name of the resource: whether there are rows of a customer, by `@namespace` and `@id`; and what else. */
  readonly holds: Readonly<Record<string, string>>;
  /** `ledger`: rows that no resource owns. */
  readonly open: (database: Sqlite, ledger: LedgerRows) => Rows;
}

/** The rows of each resource in an open ledger, by its name. Each resource adds its own, with more of its own to ask. */
// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface ResourceRows {}
export type OpenRows = { readonly [Name in keyof ResourceRows]: ResourceRows[Name] };

/** What a customer is planned from, as far as it is loaded. */
export interface Gathered {
  customer: RecordKey;
  orders: readonly OrderWithTree[];
  staff: readonly Desired<DesiredStaff>[];
  known: Known;
  /** In clear and in memory only, by marker key. */
  privateValues: ReadonlyMap<string, string>;
  /** Which tables hold anything of the customer. */
  held: Held;
}

/** How each change of a resource is written, by its type. */
export type Writes = { readonly [Type in keyof ChangeShapes]?: (change: ChangeShapes[Type], at: string) => void };

/** The rows of a resource in an open ledger. Nobody else writes them. */
export interface StateRows {
  /** Its fields of `Known` for a customer, for the engine to plan with. */
  readonly load: (customer: RecordKey, held: Held) => Partial<Known>;
  /** The fields that differ without rows of an enterprise that the customer was linked with before. */
  readonly ofLink?: (known: Known, customer: RecordKey, held: Held) => Partial<Known>;
  /** What else a customer is planned from. */
  readonly gather?: (given: Gathered) => Partial<LoadedCustomer>;
  /** Its own changes, inside the transaction of the outcome. */
  readonly writes: Writes;
  /** How many of a thing there are, of a customer or of all; undefined: it has no such thing. */
  readonly count?: (thing: TakenThing, customer: RecordKey | undefined) => number | undefined;
  /** The operation that changed a thing of it last, for undo. */
  readonly lastChange?: (id: string) => LastGiven | undefined;
  /** After a restore nothing is certain: every row ends. Answers how many. */
  readonly endAll?: (at: string) => number;
  /** Rows that ended so at `at` are recorded again, as far as the platform shows them. */
  readonly bringBack?: (customer: RecordKey, shown: readonly HeldAsset[], at: string) => void;
}

/** An asset number with the member that the platform shows as its holder. */
export interface HeldAsset {
  assetNumber: string;
  memberGlobalId: string;
}

/** One type of request: what people, or the CRM, can ask for beside the records. */
export interface RequestType<Of extends RequestOf, S extends RequestShapes = RequestTypes[Of]> {
  /** Of what one is, in a word. */
  readonly noun: string;
  /** They check what is stored and change nothing. */
  readonly schemas: {
    readonly wanted: z.ZodType<S["wanted"], S["wanted"]>;
    readonly details: z.ZodType<S["details"], S["details"]>;
    readonly answer: z.ZodType<S["answer"], S["answer"]>;
  };
  /** The command that asks for it; with `--withdraw` it takes that back. */
  readonly commands: { readonly [Wanted in S["wanted"]]: string };
  /** It is of one asset, by its number. */
  readonly isOfAsset: boolean;
  /** The subject of the operations that carry it out: at most one of them is open at a time. */
  readonly subject: (customer: RecordKey, about: string) => string;
  readonly verdict: (answer: S["answer"]) => Verdict;
  /** How it stands, after its name: "is not locked: status 3, ..." */
  readonly stands: (request: Pick<Requested<string, S>, "wanted" | "details" | "answer">) => string;
  /** What is sent for requests that are due, at least one, or why it cannot be. Pure. */
  readonly plan: (
    customer: RecordKey,
    due: readonly RequestIn<Of>[],
    settings: AssumptionSettings,
    known: Pick<Known, "numbers">,
  ) => (DraftOperation | Block)[];
  /** What of the CRM counts as requested after a rebuild, although no reading shows it. */
  readonly assume?: (given: LoadedCustomer, policies: Policies) => { changes: StateChange[]; told: string[] };
}

/** What M7 leaves out of an order that wants it gone. `form`: what the CRM says of the order, and since when. */
export interface AbsentOf {
  form: string;
  names: string[];
}

/** Looks for what is there already, so that it is not bought a second time. */
export interface Seeking {
  seek: (knows: CustomerState) => Promise<Sought>;
  /** Reads all that the enterprise of a customer shows, and keeps it: orders of others may be among it. */
  look: (knows: CustomerState) => Promise<void>;
}

/** What looking for orders of an enterprise that somebody else made came to. */
export interface Sought {
  /** That those which were found count as placed, and what is recorded of them. */
  adopted: readonly StateChange[];
  /** Why others wait, by order: they may be there, whole or in part. */
  unclear: ReadonlyMap<string, Block>;
  /** Why none of them could be looked for. */
  unread?: Block;
}

/** Reads what the rules of a resource for undo need. */
export type UndoReading<Facts extends keyof UndoFacts> = (
  ledger: Ledger,
  customer: RecordKey,
  rows: readonly DoneOperation[],
) => Promise<Pick<UndoFacts, Facts>>;

/** What undoing a run asks of a resource beside its rules. */
export interface UndoGiven {
  /** Asset numbers whose contents (M7) decide what is deleted. */
  contents?: (of: Pick<Undoing, "rows" | "facts" | "given" | "run">) => ReadonlySet<string> | "all" | undefined;
  /** What is planned from something else than usually. */
  instead?: (loaded: LoadedCustomer, facts: UndoFacts) => Partial<LoadedCustomer>;
}

/**
 * One resource, with the names of its operation types, of its changes and of its requests. What it leaves out, it has
 * none of.
 */
export interface Resource<
  Name extends OperationName = never,
  Type extends keyof ChangeShapes = never,
  Of extends keyof RequestTypes = never,
> {
  readonly name: string;
  readonly types: { readonly [K in Name]: OperationType<OperationShapes[K]> };
  /** Its rows in the ledger. */
  readonly state?: StateStore<Type>;
  /** What people, or the CRM, can request of it; the engine keeps the requests. */
  readonly requests?: { readonly [O in Of]: RequestType<O> };
  /** What a customer must have so that these are asked. What is not named here is asked for every customer. */
  readonly asked?: { readonly [Part in "plan" | "planLast" | "reads"]?: Concern };
  readonly reads?: (loaded: LoadedCustomer, options: ReadOptions) => Reads;
  /** Asset numbers that people hold or are given: if people are read and M6 leaves one out, E8 is read too. */
  readonly seats?: (loaded: LoadedCustomer) => ReadonlySet<string>;
  /** What M7 left out of what is to be removed, by order. */
  readonly absent?: (
    input: CustomerInput,
    options: Pick<PlanOptions, "settings" | "policies">,
  ) => ReadonlyMap<string, AbsentOf>;
  /** `whole`: what cannot be read throws. */
  readonly seek?: (
    deps: Pick<EngineDependencies, "ledger" | "settings">,
    snapshot: Snapshot,
    options: { whole?: boolean },
  ) => Seeking;
  /** Pure: from the CRM, what is recorded, what is observed, and what earlier resources planned. */
  readonly plan: (given: Prepared, earlier: Earlier, options: PlanOptions) => ResourcePlan;
  /** What is planned after every resource has planned: accounts are deleted of people who hold nothing any more. */
  readonly planLast?: (given: Prepared, earlier: Earlier, options: PlanOptions) => ResourcePlan;
  /** What the platform shows of a person: for a rebuild, and for what somebody did manually. */
  readonly adopt?: (loaded: Pick<LoadedCustomer, "customer" | "known">, shown: ShownPerson) => ReadBack;
  /** Ledger against reading, for `verify` and the reconciliation statement. */
  readonly compare?: (item: CustomerCase, view: ReconciliationView) => Comparison[];
  /** How a done operation is taken back, beside its `reversal`. */
  readonly undo: { readonly [K in Name]?: UndoRule<K> };
  readonly undoFacts?: (...of: Parameters<UndoReading<never>>) => Promise<Partial<UndoFacts>>;
  readonly undoGiven?: UndoGiven;
  /** What `explain` tells of a record. A resource adds its own fields to `ExplainFacts` by `declare module`. */
  readonly explain?: {
    readonly load: (
      db: Kysely<LedgerTables>,
      about: { stream: Stream; key: RecordKey; numbers: readonly string[] },
    ) => Promise<Partial<ExplainFacts>>;
    /** What is recorded now, a line each. */
    readonly lines: (facts: ExplainFacts) => string[];
    /** What began and what ended. */
    readonly events: (facts: ExplainFacts) => ResourceEvent[];
  };
}
