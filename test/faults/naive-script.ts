/**
 * What a script of an afternoon does, to compare with: reads the orders, places each with E5 over 16 lanes, writes down
 * each that was answered, and goes on after a kill with those not written down. An answer that is lost is asked for
 * again.
 *
 * node naive-script.ts SANDBOX_URL ORDERS.ndjson ENTERPRISES.json PROGRESS_FILE
 */
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { z } from "zod";
import { asset, batch, newBuy, product } from "../sandbox/bodies.ts";

const lanes = 16;
const orderSchema = z.object({
  id: z.string(),
  customer: z.string(),
  assets: z.array(z.object({ id: z.string(), product: z.string() })),
});
const enterpriseSchema = z.object({
  crmCustomerId: z.string(),
  enterpriseGlobalId: z.string(),
  customerId: z.string(),
  industryCustomerId: z.string(),
  administrator: z.string(),
  member: z.string(),
});
type Order = z.infer<typeof orderSchema>;

const [url = "", ordersPath = "", enterprisesPath = "", progressPath = ""] = process.argv.slice(2);
const enterprises = z.record(z.string(), enterpriseSchema).parse(JSON.parse(readFileSync(enterprisesPath, "utf8")));
const written = new Set(existsSync(progressPath) ? readFileSync(progressPath, "utf8").split("\n") : []);
const waiting = readFileSync(ordersPath, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => orderSchema.parse(JSON.parse(line)))
  .filter((order) => !written.has(order.id));
const agent = new Agent({ keepAlive: true, maxSockets: lanes });

function bodyOf(order: Order): string {
  const enterprise = enterprises[order.customer];
  if (enterprise === undefined) throw new Error(`${order.customer} is no customer`);
  const assets = order.assets.map((item) => asset([`NAIVE-${item.id}`], { products: [product(item.product)] }));
  return JSON.stringify(batch(order.id, [newBuy(enterprise, { assets })]));
}

function place(order: Order): Promise<number> {
  const path = `/order/api/order/v1/licenseOrder/batchOrder?appKey=sandbox-app&g_nonce=${randomBytes(16).toString("hex")}`;
  return new Promise((resolve, reject) => {
    const headers = { authorization: "Bearer sandbox-app-token", "content-type": "application/json" };
    const call = request(`${url}${path}`, { method: "POST", agent, headers }, (answer) => {
      answer.on("error", reject);
      answer.on("end", () => resolve(answer.statusCode ?? 0));
      answer.resume();
    });
    call.on("error", reject);
    call.end(bodyOf(order));
  });
}

async function lane(): Promise<void> {
  for (let order = waiting.shift(); order !== undefined; order = waiting.shift()) {
    for (;;) {
      const status = await place(order).catch(() => 0);
      if (status === 200) break;
      if (status !== 0) throw new Error(`${order.id}: HTTP ${status}`);
    }
    appendFileSync(progressPath, `${order.id}\n`);
  }
}

process.stdout.write("sending\n");
await Promise.all(Array.from({ length: lanes }, lane));
process.exit(0);
