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
  PlanInput,
} from "../plan/input.ts";
import type { DoneOperation, UndoFacts, Undoing, LastGiven, UndoRule } from "../plan/undo.ts";
import type { z } from "zod";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Sqlite } from "../../ledger/database/database.ts";
import type { Held } from "../../ledger/state/observations.ts";
import type { LedgerRows } from "../../ledger/state/registry.ts";
import type { LedgerTables } from "../../ledger/tables.ts";
import type { Desired, DesiredStaff, OrderWithTree } from "./desired.ts";
import type { OperationType } from "./operation-type.ts";
import type { DraftOperation, Operation, RemovedThing, Weight } from "./operation.ts";
import type { Policies, PolicyName } from "./policy-settings.ts";
import type { Requested, RequestShapes, Verdict, RequestIn, RequestOf } from "./requests.ts";
import type { Known, StateChange, StatePart } from "./state.ts";
import type { Block, BlockedRecord, ReadBack } from "../plan/blocks.ts";
import type { ExplainFacts, ResourceEvent } from "../../report/explain.ts";
import type { Comparison, CustomerCase, ReconciliationView } from "../../report/reconciliation/case.ts";
import type { WritingEndpoint } from "../../contract/endpoints.ts";

/**
 * The one interface between the engine and a resource (enterprise, order, staff, assignment, lock, loan). Members that
 * only some operation types need are capabilities, under `can`.
 *
 * A resource adds its types by `declare module`: to `OperationShapes`, `ChangeShapes`, `RequestTypes` and
 * `ResourceTables` here, to `Known` of state.ts and to `ExplainFacts` of report/explain.ts. From them the compiler
 * builds `Operation`, `StateChange` and `LedgerTables`, and rejects a name that two resources use.
 */

// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface OperationShapes {}
export type OperationName = keyof OperationShapes;

// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface ChangeShapes {}

// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface RequestTypes {}

// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface ResourceTables {}

export interface Earlier extends Planned {
  /** Makes operations from drafts. `left`: stopped operations. `refused`: the reason for each of their records. */
  make: (drafts: readonly DraftOperation[]) => {
    operations: Operation[];
    left: Operation[];
    refused: BlockedRecord[];
  };
  /** Whether a person rejected the part with this hash, alone or together with other parts of its operation. */
  rejectedPart: (type: OperationName, hash: string) => { alone?: Block; together?: string };
}

/** If an optional member is left out, the value of earlier resources stays. */
export interface ResourcePlan extends Partial<Pick<Planned, "endingNumbers" | "memberships" | "notes">> {
  records: "customers" | "orders" | "staff";
  operations: Operation[];
  changes: StateChange[];
  /** Records with something left undone. Only the first reason of a record counts. */
  blocks: BlockedRecord[];
  stops?: Block | undefined;
  note?: Block | undefined;
}

export interface ShownPerson {
  person: Desired<DesiredStaff>;
  member: Pick<ObservedMember, "globalId" | "assetNums">;
  assets: readonly ObservedAsset[];
}

/** `changes` works in memory, `open` in the ledger. Both must give the same result. */
export interface StateStore<Type extends keyof ChangeShapes, Rows extends StateRows = StateRows> {
  readonly tables: readonly (keyof ResourceTables)[];
  readonly nothing: Partial<Known>;
  readonly changes: { readonly [T in Type]: StatePart<Known, ChangeShapes[T]> };
  /** Facts of a saved plan, and the messages if a fact changed, is missing or is new. */
  readonly facts: {
    readonly [word: string]: {
      readonly of: (known: Known) => (readonly [id: string, fact: Json])[];
      readonly moved: (id: string) => [changed: string, missing: string, isNew: string];
    };
  };
  readonly learned?: (loaded: LoadedCustomer, changes: readonly StateChange[]) => Partial<LoadedCustomer>;
  /** SQL conditions: whether a customer (`@namespace`, `@id`) has rows of this name. */
  readonly holds: Readonly<Record<string, string>>;
  readonly open: (database: Sqlite, ledger: LedgerRows) => Rows;
}

// oxlint-disable-next-line typescript/no-empty-object-type -- each resource adds its own
export interface ResourceRows {}
export type OpenRows = { readonly [Name in keyof ResourceRows]: ResourceRows[Name] };

export interface Gathered {
  customer: RecordKey;
  orders: readonly OrderWithTree[];
  staff: readonly Desired<DesiredStaff>[];
  known: Known;
  knownOf(other: RecordKey): Known;
  /** Unencrypted, only in memory, by marker key. */
  privateValues: ReadonlyMap<string, string>;
  held: Held;
}

export type Writes = { readonly [Type in keyof ChangeShapes]?: (change: ChangeShapes[Type], at: string) => void };

export interface StateRows {
  readonly load: (customer: RecordKey, held: Held) => Partial<Known>;
  /** The fields without the rows of an enterprise that was linked earlier. */
  readonly ofLink?: (known: Known, customer: RecordKey, held: Held) => Partial<Known>;
  readonly gather?: (given: Gathered) => Partial<LoadedCustomer>;
  readonly writes: Writes;
  /** Without a customer: of all customers. Undefined: the resource has no such things. */
  readonly count?: (thing: RemovedThing, customer: RecordKey | undefined) => number | undefined;
  readonly lastChange?: (id: string) => LastGiven | undefined;
}

export interface RequestType<Of extends RequestOf, S extends RequestShapes = RequestTypes[Of]> {
  readonly noun: string;
  readonly schemas: {
    readonly wanted: z.ZodType<S["wanted"], S["wanted"]>;
    readonly details: z.ZodType<S["details"], S["details"]>;
    readonly answer: z.ZodType<S["answer"], S["answer"]>;
  };
  readonly commands: { readonly [Wanted in S["wanted"]]: string };
  readonly isOfAsset: boolean;
  readonly subject: (customer: RecordKey, about: string) => string;
  readonly verdict: (answer: S["answer"]) => Verdict;
  readonly stands: (request: Pick<Requested<string, S>, "wanted" | "details" | "answer">) => string;
  /** Operations for due requests (at least one), or blocks. Pure. */
  readonly plan: (
    customer: RecordKey,
    due: readonly RequestIn<Of>[],
    settings: AssumptionSettings,
    known: Pick<Known, "numbers">,
  ) => (DraftOperation | Block)[];
  /** CRM requests that count as made after a rebuild, although no reading shows them. */
  readonly assume?: (given: LoadedCustomer, policies: Policies) => { changes: StateChange[]; told: string[] };
}

/** Assets to remove from an order that M7 does not show. `form`: the CRM's form of the order, and since when. */
export interface AbsentOf {
  form: string;
  names: string[];
}

export interface Seeking {
  isNeeded: (knows: CustomerState) => boolean;
  seek: (knows: CustomerState) => Promise<Sought>;
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
  contents?: (of: Pick<Undoing, "rows" | "facts" | "given" | "run">) => ReadonlySet<string> | "all" | undefined;
  instead?: (loaded: LoadedCustomer, facts: UndoFacts) => Partial<LoadedCustomer>;
}

export interface Resource<
  Name extends OperationName = never,
  Type extends keyof ChangeShapes = never,
  Of extends keyof RequestTypes = never,
> {
  readonly name: string;
  readonly types: { readonly [K in Name]: OperationType<OperationShapes[K]> };
  readonly state?: StateStore<Type>;
  readonly requests?: { readonly [O in Of]: RequestType<O> };
  /** Which part of a customer a member needs. Members not named here are called for all customers. */
  readonly asked?: { readonly [Part in "plan" | "planLast" | "reads"]?: Concern };
  readonly reads?: (loaded: LoadedCustomer, options: ReadOptions) => Reads;
  /** Assets that people hold or get. If people are read and M6 leaves one of these out, E8 is read too. */
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
  /** Uses only desired, recorded and observed state, and the plans of earlier resources. */
  readonly plan: (given: PlanInput, earlier: Earlier, options: PlanOptions) => ResourcePlan;
  /** After all resources: deletes accounts of people without assets. */
  readonly planLast?: (given: PlanInput, earlier: Earlier, options: PlanOptions) => ResourcePlan;
  readonly adopt?: (loaded: Pick<LoadedCustomer, "customer" | "known">, shown: ShownPerson) => ReadBack;
  readonly differing?: (ledger: Ledger, customer: RecordKey) => Promise<(member: ObservedMember) => string[]>;
  readonly compare?: (item: CustomerCase, view: ReconciliationView) => Comparison[];
  readonly undo: { readonly [K in Name]?: UndoRule<K> };
  readonly undoFacts?: (...of: Parameters<UndoReading<never>>) => Promise<Partial<UndoFacts>>;
  readonly undoGiven?: UndoGiven;
  readonly explain?: {
    readonly load: (
      db: Kysely<LedgerTables>,
      about: { stream: Stream; key: RecordKey; numbers: readonly string[] },
    ) => Promise<Partial<ExplainFacts>>;
    readonly lines: (facts: ExplainFacts) => string[];
    readonly events: (facts: ExplainFacts) => ResourceEvent[];
  };
}

/** In order. Removals come after people got their new assets. */
export const stages = [
  "enterprise",
  "orders",
  "staff",
  "revokes",
  "grants",
  "removals",
  "leavers",
  "requests",
] as const;
export type Stage = (typeof stages)[number];

export interface RecordReference {
  stream: Stream;
  namespace: string;
  id: string;
}

/** The operation waits without this other operation of the same plan. Either may come first. */
export type Need = {
  stage: Stage;
  subject: string;
};

export interface Shapes {
  target: JsonObject;
  payload: JsonObject;
  before: Json;
  after: Json;
  context: JsonObject;
}

/** The schemas check stored values and change nothing. */
export interface Schemas<S extends Shapes> {
  readonly target: z.ZodType<S["target"], S["target"]>;
  readonly payload: z.ZodType<S["payload"], S["payload"]>;
  readonly before: z.ZodType<S["before"], S["before"]>;
  readonly after: z.ZodType<S["after"], S["after"]>;
  readonly context: z.ZodType<S["context"], S["context"]>;
}

export type ShapesOf<T extends { readonly [Column in keyof Shapes]: z.ZodType }> = {
  [Column in keyof Shapes]: z.infer<T[Column]>;
};

/** References and private values are not bound yet. */
export interface Draft<S extends Shapes> {
  customer: RecordKey;
  /** `order:crm/10248`. A customer has at most one open intent per subject. */
  subject: string;
  /** The records that it serves. The balance needs them. */
  records: RecordReference[];
  target: S["target"];
  payload: S["payload"];
  reason: string;
  before: S["before"];
  after: S["after"];
  /** If not the first stage of its kind: another one that the kind allows. */
  stage?: Stage;
  policy?: PolicyName | undefined;
  /** Its removals, in units that people know. Not part of its hash. */
  weight?: Weight;
  /** If one of these is held, rejected, waiting or not planned, this operation waits too. */
  needs?: Need[];
}

export interface Change<Name extends string, S extends Shapes> extends Draft<S> {
  kind: Name;
  endpoint: WritingEndpoint;
  stage: Stage;
  policy: PolicyName | undefined;
  weight: Weight;
  needs: Need[];
  takesAway: number;
  hash: string;
}

export function fits<Value>(schema: z.ZodType<Value, Value>, value: unknown): value is Value {
  return schema.safeParse(value).success;
}
