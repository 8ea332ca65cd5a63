import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Operation } from "../operation/operation.ts";
import { compareOperations } from "../operation/operation.ts";
import type { StateChange } from "../operation/state.ts";
import type { Block } from "./block.ts";
import { planEnterprise } from "./enterprise.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { CustomerInput } from "./input.ts";
import { planOrders } from "./orders.ts";
import { planPeople } from "./people.ts";
import { prepare } from "./prepared.ts";
import { recordsOf, recordsWaiting } from "./records.ts";
import type { Planned, RecordOutcome } from "./records.ts";
import { planRequested } from "./requested.ts";
import { StandingRejections } from "./rejections.ts";

/** Everything that is meant to happen for one customer. */
export interface CustomerPlan {
  customer: RecordKey;
  operations: Operation[];
  records: RecordOutcome[];
  /**
   * What reading the platform changes in what is known, without an operation: adoptions, and assignments found gone.
   */
  changes: StateChange[];
  /**
   * The customer itself waits: of what is under it nothing was planned but what people asked for, and nothing can be
   * told from what is not there.
   */
  waits?: true;
  /**
   * What the plan was made from; a plan whose fingerprint no longer fits is stale. Made when it is asked for: most
   * plans are compared with none.
   */
  readonly fingerprint: string;
}

export interface PlanOptions {
  settings: AssumptionSettings;
  /** Whether initial passwords can be sealed (A30). */
  canSeal: boolean;
  /** Why nothing may be taken away in this run: an incomplete or shrunken source. */
  revokesBlocked: Block | undefined;
  /** Subjects of what was carried out in this attempt already, for what is tried once in an attempt. */
  tried?: ReadonlySet<string> | undefined;
}

/** Plans one customer, stage by stage: pure, sorted, and the same for the same input. */
export function planCustomer(input: CustomerInput, options: PlanOptions): CustomerPlan {
  const { settings } = options;
  const { customer, known } = input;
  const rejections = new StandingRejections(input.rejections, settings);
  const prepared = prepare(input, settings);
  const waiting = (own: Block, planned?: Planned, operations: Operation[] = []): CustomerPlan => {
    const records = recordsWaiting(input, own, planned);
    return {
      customer,
      operations,
      records,
      changes: [],
      waits: true,
      get fingerprint() {
        return fingerprintOf(input);
      },
    };
  };

  const enterprise = planEnterprise(prepared, settings);
  const first = rejections.operations(enterprise.meant);
  const refused = first.refused[0]?.[1];
  // A change of an enterprise that is there (E4) stops nothing where it was refused.
  const isMade = known.link !== undefined || enterprise.changes.length > 0;
  const own = enterprise.block ?? (isMade ? undefined : refused);
  if (own !== undefined && known.link === undefined) return waiting(own);

  const orders = planOrders(prepared, settings);
  const placements = rejections.operations(orders.meant);
  const people = planPeople(prepared, placements.operations, { ...options, rejections });
  const orderBlocks = new Map([...orders.blocks, ...placements.refused]);
  const planned = { placements: placements.operations, orderBlocks, people };
  const requested = planRequested(input, settings, { rejections, tried: options.tried ?? new Set() });
  // What people asked for of a customer that is gone from the CRM is done all the same: its enterprise is still there.
  const isGone = input.desiredCustomer?.state === "absent";
  if (own !== undefined) return waiting(own, planned, isGone ? requested.operations : []);

  const records = recordsOf(input, { refused, note: enterprise.note, asked: requested.block }, planned);
  const operations = [first, placements, people, requested]
    .flatMap((stage) => stage.operations)
    .sort(compareOperations);
  const changes = [...enterprise.changes, ...people.changes];
  return {
    customer,
    operations,
    records,
    changes,
    get fingerprint() {
      return fingerprintOf(input);
    },
  };
}
