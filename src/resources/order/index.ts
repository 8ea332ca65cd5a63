import { types } from "./operations.ts";
import { plan } from "./plan.ts";
import { state } from "./state.ts";
import { undo } from "./undo.ts";

export { numbersOfInstance, unitsNamed } from "./state/asset-numbers.ts";

/** Orders of licences (E5), with the asset numbers that they are bought under (E9). */
export const order = { name: "order", types, state, plan, undo };
