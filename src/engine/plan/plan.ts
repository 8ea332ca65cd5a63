import { withoutReplacedSeats } from "./gated.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Operation } from "../model/operation.ts";
import { compareOperations } from "../model/operation.ts";
import type { StateChange } from "../model/state.ts";
import type { Block } from "./block.ts";
import { factsOf } from "./facts.ts";
import type { Facts } from "./facts.ts";
import type { CustomerInput, PlanOptions, Planned } from "./input.ts";
import { prepare } from "./input.ts";
import { recordsOf, recordsWaiting } from "./records.ts";
import type { RecordOutcome } from "./records.ts";
import { planRequested } from "./requested.ts";
import { StandingRejections } from "./rejections.ts";
import { planFirst, planStagesOf } from "./stages.ts";

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
  /** Hashes of what would be done, had a person not rejected it. */
  rejected?: ReadonlySet<string> | undefined;
  /**
   * What the plan was made from; a plan of which a fact moved is stale. Made when it is asked for: most plans are
   * compared with none.
   */
  readonly facts: Facts;
}

/** Plans one customer, stage by stage: pure, sorted, and the same for the same input. */
export function planCustomer(input: CustomerInput, options: PlanOptions): CustomerPlan {
  const { settings } = options;
  const { customer, known } = input;
  const rejections = new StandingRejections(input.rejections, options);
  const prepared = prepare(input, settings);
  const waiting = (own: Block, planned?: Planned): CustomerPlan => {
    const records = recordsWaiting(input, own, planned);
    return {
      customer,
      operations: [],
      records,
      changes: [],
      waits: true,
      get facts() {
        return factsOf(input);
      },
    };
  };

  const enterprise = planFirst(prepared, { ...options, rejections });
  const refused = enterprise.blocks[0]?.[1];
  // A rejected change of an enterprise that exists (E4) stops nothing.
  const isMade = known.link !== undefined || enterprise.changes.length > 0;
  const own = enterprise.stops ?? (isMade ? undefined : refused);
  if (own !== undefined && known.link === undefined) return waiting(own);

  const planned = planStagesOf(prepared, { ...options, rejections });
  const requested = planRequested(input, settings, { rejections, tried: options.tried ?? new Set() });
  if (own !== undefined) return waiting(own, planned);

  // What is only told of stands back behind what is not as people asked for.
  const note = requested.block !== undefined && enterprise.note?.again === false ? undefined : enterprise.note;
  const told = recordsOf(input, { refused, note, asked: requested.block }, planned);
  const records = withUnread(told, input);
  const { orders, people } = planned;
  const all = [enterprise, orders, people, requested].flatMap((stage) => stage.operations);
  const operations = withoutReplacedSeats(all, known).sort(compareOperations);
  const changes = [...enterprise.changes, ...orders.changes, ...people.changes];
  return {
    customer,
    operations,
    records,
    changes,
    rejected: options.rejected,
    get facts() {
      return factsOf(input);
    },
  };
}

/** Where a reading gave nothing, the next run looks at the customer again, also where no record of it waits for that. */
function withUnread(records: RecordOutcome[], { customer: key, observed }: CustomerInput): RecordOutcome[] {
  const [block] = Object.values(observed.unread ?? {});
  if (block === undefined || records.some(({ again }) => again === true)) return records;
  const others = records.filter(({ stream }) => stream !== "customers");
  return [...others, { stream: "customers", key, outcome: "deferred", ...block }];
}
