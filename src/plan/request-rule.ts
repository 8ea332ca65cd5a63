import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { RecordKey } from "../crm/model.ts";
import type { MeantOperation } from "../operation/operation.ts";
import type { RequestIn, RequestOf } from "../operation/requests.ts";
import type { Known } from "../operation/state.ts";
import type { Block } from "./block.ts";

/** What is sent for requests of one kind that are due, or why it cannot be. Pure; at least one is given. */
export type RequestRule<Of extends RequestOf> = (
  customer: RecordKey,
  due: readonly RequestIn<Of>[],
  settings: AssumptionSettings,
  known: Pick<Known, "numbers">,
) => (MeantOperation | Block)[];
