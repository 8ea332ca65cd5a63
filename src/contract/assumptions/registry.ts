import { assets } from "./assets.ts";
import { assignments } from "./assignments.ts";
import { calls } from "./calls.ts";
import { enterprises } from "./enterprises.ts";
import { locks } from "./locks.ts";
import { orderFields } from "./order-fields.ts";
import { orders } from "./orders.ts";
import { staff } from "./staff.ts";

/** Every row, by area; the settings stand in this order in the configuration's schema and documentation. */
export const rows = calls
  .and(enterprises)
  .and(orders)
  .and(orderFields)
  .and(assets)
  .and(staff)
  .and(assignments)
  .and(locks);
