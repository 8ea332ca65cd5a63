/**
 * The one interface between the engine and a resource (enterprise, order, staff, assignment, lock, loan). An operation
 * type has ten members; members that only some need are capabilities, under `can`. A resource leaves out members that
 * it does not have.
 *
 * A resource adds its types by `declare module`: to `OperationShapes`, `ChangeShapes`, `RequestTypes` and
 * `ResourceTables` here, to `Known` of state.ts and to `ExplainFacts` of report/explain.ts. Its file only has to be
 * part of the program. From them the compiler builds `Operation`, `StateChange`, `LedgerTables` and others. So it knows
 * each payload, and rejects a name that two resources use.
 */
import type { Kysely } from "kysely";
import type { CustomerState, EngineDependencies } from "../customer.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Snapshot, ObservedAsset, ObservedMember } from "../../platform/snapshot.ts";
import type {
  ReadOptions,
  Reads,
  Concern,
  CustomerInput,
  LoadedCustomer,
  PlanOptions,
  Planned,
  Prepared,
} from "../plan/input.ts";
import type { DoneOperation, UndoFacts, Undoing, LastGiven, UndoRule } from "../plan/undo.ts";
import type { z } from "zod";
import type { Json } from "../../base/canonical-json.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Sqlite } from "../../ledger/database/database.ts";
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
import type { Block, BlockedRecord, ReadBack } from "../plan/records.ts";
import type { ExplainFacts, ResourceEvent } from "../../report/explain.ts";
import type { Comparison, CustomerCase, ReconciliationView } from "../../report/reconciliation/case.ts";

/** Payload, target, before, after and context of each operation type, by its name in the journal. */
// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface OperationShapes {}
export type OperationName = keyof OperationShapes;

/** How an outcome or a reading changes recorded state, by type. */
// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface ChangeShapes {}

/** What can be requested, its stored facts and the service's answer, by the name of the request. */
// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface RequestTypes {}

/** The rows of each table of a resource, by its name. */
// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface ResourceTables {}

/** What earlier resources planned for the same customer, and the engine's own part in planning. */
export interface Earlier extends Planned {
  /** Makes operations from drafts. `left`: those that something stops; `refused`: why, for each of their records. */
  make: (drafts: readonly DraftOperation[]) => {
    operations: Operation[];
    left: Operation[];
    refused: BlockedRecord[];
  };
  /** Whether the part with this hash was rejected, alone or together with other parts of its operation. */
  rejectedPart: (type: OperationName, hash: string) => { alone?: Block; together?: string };
}

/** A resource's plan for a customer. Later resources keep the earlier value of each optional member left out. */
export interface ResourcePlan extends Partial<Pick<Planned, "endingNumbers" | "memberships" | "notes">> {
  records: "customers" | "orders" | "staff";
  operations: Operation[];
  /** Changes without an operation: something is adopted, or is missing. */
  changes: StateChange[];
  /** Records with something left undone, with the reason. The first reason of a record counts. */
  blocks: BlockedRecord[];
  stops?: Block | undefined;
  note?: Block | undefined;
}

export interface ShownPerson {
  person: Desired<DesiredStaff>;
  member: Pick<ObservedMember, "globalId" | "assetNums">;
  assets: readonly ObservedAsset[];
}

/** The recorded state of a resource: `changes` in memory, `open` in the ledger. Both must give the same result. */
export interface StateStore<Type extends keyof ChangeShapes, Rows extends StateRows = StateRows> {
  readonly tables: readonly (keyof ResourceTables)[];
  readonly nothing: Partial<Known>;
  readonly changes: { readonly [T in Type]: StatePart<Known, ChangeShapes[T]> };
  /** Facts of a saved plan, by a word and an id; and the messages if one changed, is missing or is new. */
  readonly facts: {
    readonly [word: string]: {
      readonly of: (known: Known) => (readonly [id: string, fact: Json])[];
      readonly moved: (id: string) => [changed: string, missing: string, isNew: string];
    };
  };
  readonly learned?: (loaded: LoadedCustomer, changes: readonly StateChange[]) => Partial<LoadedCustomer>;
  /** SQL by a name of rows: whether a customer (`@namespace`, `@id`) has such rows. */
  readonly holds: Readonly<Record<string, string>>;
  /** `ledger`: rows that no resource owns. */
  readonly open: (database: Sqlite, ledger: LedgerRows) => Rows;
}

/** The rows of each resource in an open ledger, by its name. Each resource adds its own, with its own queries. */
// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface ResourceRows {}
export type OpenRows = { readonly [Name in keyof ResourceRows]: ResourceRows[Name] };

export interface Gathered {
  customer: RecordKey;
  orders: readonly OrderWithTree[];
  staff: readonly Desired<DesiredStaff>[];
  known: Known;
  /** Unencrypted and in memory only, by marker key. */
  privateValues: ReadonlyMap<string, string>;
  /** Which tables have rows of the customer. */
  held: Held;
}

export type Writes = { readonly [Type in keyof ChangeShapes]?: (change: ChangeShapes[Type], at: string) => void };

export interface StateRows {
  readonly load: (customer: RecordKey, held: Held) => Partial<Known>;
  /** The fields that change when the rows of an earlier linked enterprise are left out. */
  readonly ofLink?: (known: Known, customer: RecordKey, held: Held) => Partial<Known>;
  readonly gather?: (given: Gathered) => Partial<LoadedCustomer>;
  readonly writes: Writes;
  /** How many things a customer, or all customers, have; undefined: the resource has no such things. */
  readonly count?: (thing: TakenThing, customer: RecordKey | undefined) => number | undefined;
  readonly lastChange?: (id: string) => LastGiven | undefined;
  /** After a restore nothing is certain: ends every row and returns how many. */
  readonly endAll?: (at: string) => number;
  /** Records the rows that ended at `at` again, if the platform shows them. */
  readonly bringBack?: (customer: RecordKey, shown: readonly HeldAsset[], at: string) => void;
}

export interface HeldAsset {
  assetNumber: string;
  memberGlobalId: string;
}

/** One type of request, which people or the CRM can make in addition to the records. */
export interface RequestType<Of extends RequestOf, S extends RequestShapes = RequestTypes[Of]> {
  readonly noun: string;
  /** The schemas check stored values and change nothing. */
  readonly schemas: {
    readonly wanted: z.ZodType<S["wanted"], S["wanted"]>;
    readonly details: z.ZodType<S["details"], S["details"]>;
    readonly answer: z.ZodType<S["answer"], S["answer"]>;
  };
  /** The command that makes the request; with `--withdraw` it withdraws it. */
  readonly commands: { readonly [Wanted in S["wanted"]]: string };
  /** It is about one asset, by its number. */
  readonly isOfAsset: boolean;
  /** The subject of the operations that carry it out. At most one such operation is open at a time. */
  readonly subject: (customer: RecordKey, about: string) => string;
  readonly verdict: (answer: S["answer"]) => Verdict;
  /** Its state, as the text after its name: "is not locked: status 3, ..." */
  readonly stands: (request: Pick<Requested<string, S>, "wanted" | "details" | "answer">) => string;
  /** The operations for due requests (at least one), or why they are blocked. Pure. */
  readonly plan: (
    customer: RecordKey,
    due: readonly RequestIn<Of>[],
    settings: AssumptionSettings,
    known: Pick<Known, "numbers">,
  ) => (DraftOperation | Block)[];
  /** CRM wishes that count as requested after a rebuild, although no reading shows them. */
  readonly assume?: (given: LoadedCustomer, policies: Policies) => { changes: StateChange[]; told: string[] };
}

/** Assets to be removed from an order that M7 does not show. `form`: the CRM's form of the order, and since when. */
export interface AbsentOf {
  form: string;
  names: string[];
}

export interface Seeking {
  isNeeded: (knows: CustomerState) => boolean;
  seek: (knows: CustomerState) => Promise<Sought>;
  /** Reads and keeps everything that a customer's enterprise shows, perhaps with orders of other customers. */
  look: (knows: CustomerState) => Promise<void>;
}

export interface Sought {
  adopted: readonly StateChange[];
  unclear: ReadonlyMap<string, Block>;
  unread?: Block;
}

export type UndoReading<Facts extends keyof UndoFacts> = (
  ledger: Ledger,
  customer: RecordKey,
  rows: readonly DoneOperation[],
) => Promise<Pick<UndoFacts, Facts>>;

export interface UndoGiven {
  /** Asset numbers whose contents (M7) decide which deletions are needed. */
  contents?: (of: Pick<Undoing, "rows" | "facts" | "given" | "run">) => ReadonlySet<string> | "all" | undefined;
  instead?: (loaded: LoadedCustomer, facts: UndoFacts) => Partial<LoadedCustomer>;
}

/** One resource. A member that is left out means that the resource has none. */
export interface Resource<
  Name extends OperationName = never,
  Type extends keyof ChangeShapes = never,
  Of extends keyof RequestTypes = never,
> {
  readonly name: string;
  readonly types: { readonly [K in Name]: OperationType<OperationShapes[K]> };
  readonly state?: StateStore<Type>;
  /** What people or the CRM can request of it; the engine keeps the requests. */
  readonly requests?: { readonly [O in Of]: RequestType<O> };
  /** The part of a customer that each member needs. Members not named here are called for all customers. */
  readonly asked?: { readonly [Part in "plan" | "planLast" | "reads"]?: Concern };
  readonly reads?: (loaded: LoadedCustomer, options: ReadOptions) => Reads;
  /** Asset numbers that people hold or get. If people are read and M6 leaves one out, E8 is read too. */
  readonly seats?: (loaded: LoadedCustomer) => ReadonlySet<string>;
  readonly absent?: (
    input: CustomerInput,
    options: Pick<PlanOptions, "settings" | "policies">,
  ) => ReadonlyMap<string, AbsentOf>;
  /** `whole`: a failed reading throws. */
  readonly seek?: (
    deps: Pick<EngineDependencies, "ledger" | "settings">,
    snapshot: Snapshot,
    options: { whole?: boolean },
  ) => Seeking;
  /** Pure: from desired, recorded and observed state, and the plans of earlier resources. */
  readonly plan: (given: Prepared, earlier: Earlier, options: PlanOptions) => ResourcePlan;
  /** Plans after all resources: deletes accounts of people who no longer hold anything. */
  readonly planLast?: (given: Prepared, earlier: Earlier, options: PlanOptions) => ResourcePlan;
  /** Reads a person's shown data, for a rebuild and for manual changes. */
  readonly adopt?: (loaded: Pick<LoadedCustomer, "customer" | "known">, shown: ShownPerson) => ReadBack;
  /** Reads what was sent last of a customer's people, and gives the names of the fields that M5 shows differently. */
  readonly differing?: (ledger: Ledger, customer: RecordKey) => Promise<(member: ObservedMember) => string[]>;
  /** Compares the ledger with a reading, for `verify` and the reconciliation statement. */
  readonly compare?: (item: CustomerCase, view: ReconciliationView) => Comparison[];
  readonly undo: { readonly [K in Name]?: UndoRule<K> };
  readonly undoFacts?: (...of: Parameters<UndoReading<never>>) => Promise<Partial<UndoFacts>>;
  readonly undoGiven?: UndoGiven;
  /** What `explain` shows of a record. A resource adds its fields to `ExplainFacts` by `declare module`. */
  readonly explain?: {
    readonly load: (
      db: Kysely<LedgerTables>,
      about: { stream: Stream; key: RecordKey; numbers: readonly string[] },
    ) => Promise<Partial<ExplainFacts>>;
    readonly lines: (facts: ExplainFacts) => string[];
    readonly events: (facts: ExplainFacts) => ResourceEvent[];
  };
}
