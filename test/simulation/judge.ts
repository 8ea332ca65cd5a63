import { z } from "zod";
import { identifierOf } from "../../src/sandbox/answers.ts";
import { auditIsWhole } from "../support/full-check.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { privateText } from "../support/world/crm.ts";
import type { Company } from "./company.ts";
import type { SimulatedServices } from "./services.ts";

/** What is wrong: done twice, lost, or anything else. Empty lists where everything is as meant. */
export interface Verdict {
  twice: string[];
  lost: string[];
  wrong: string[];
}

interface EnterpriseRow {
  id: number;
  channelCustomerId: string;
  name: string;
  branchName: string;
  address: string;
}

/** Looks at the platform, the CRM and the ledger when nothing is under way any more. */
export function judge(company: Company, services: SimulatedServices, ledgerPath: string): Verdict {
  const verdict: Verdict = { twice: [], lost: [], wrong: [] };
  for (const [what, found] of Object.entries(services.observation.duplicates()))
    if (Array.isArray(found) && found.length > 0) verdict.twice.push(`${what}: ${JSON.stringify(found)}`);
  const enterprises = judgeEnterprises(company, services, verdict);
  judgeOrders(company, services, verdict);
  judgeStaff(company, services, enterprises, verdict);
  const ledger = new LedgerView(ledgerPath);
  try {
    judgeLedger(services, ledger, ledgerPath, verdict);
  } finally {
    ledger.close();
  }
  return verdict;
}

function judgeEnterprises(company: Company, services: SimulatedServices, verdict: Verdict): Map<string, number> {
  const rows = services.store
    .prepare<[], EnterpriseRow>(
      `SELECT enterprise_id AS id, channel_customer_id AS channelCustomerId, name, branch_name AS branchName, address
       FROM customers WHERE is_default = 1`,
    )
    .all();
  for (const row of rows) {
    if (!company.customers.some((customer) => customer.id === row.channelCustomerId))
      verdict.wrong.push(`the platform has an enterprise ${row.channelCustomerId} that nobody wished`);
  }
  const found = new Map<string, number>();
  for (const customer of company.customers) {
    const row = rows.find((item) => item.channelCustomerId === customer.id);
    if (row === undefined) {
      verdict.lost.push(`enterprise of ${customer.id}`);
      continue;
    }
    found.set(customer.id, row.id);
    if (row.name !== customer.name || row.branchName !== customer.branch || row.address !== (customer.address ?? ""))
      verdict.lost.push(
        `${customer.id}: the platform has ${row.name}, ${row.address} and not ${customer.name}, ${customer.address}`,
      );
  }
  return found;
}

function judgeOrders(company: Company, services: SimulatedServices, verdict: Verdict): void {
  const { orders, deletions } = services.observation.state();
  const cancelled = new Set(company.orders.flatMap((order) => (order.cancelled ? [order.id] : [])));
  for (const name of Object.keys(deletions))
    if (!cancelled.has(name.replace(/-\d+$/u, "")))
      verdict.wrong.push(`${name} deleted something that nobody took back`);
  const products = services.store.prepare<[string], { product: string; asset: string }>(
    `SELECT products.crm_product_id AS product, assets.asset_number AS asset FROM products
     JOIN license_orders ON license_orders.id = products.license_order_id JOIN assets ON assets.id = products.asset_id
     WHERE license_orders.channel_order_id = ? AND products.removed_by IS NULL AND assets.removed_by IS NULL`,
  );
  for (const name of Object.keys(orders))
    if (!company.orders.some((order) => order.id === name)) verdict.wrong.push(`order ${name} was never wished`);
  for (const order of company.orders) {
    const state = orders[order.id];
    if (state === undefined) {
      if (!order.cancelled) verdict.lost.push(`order ${order.id}`);
      continue;
    }
    if (state.calls !== 1) verdict.twice.push(`order ${order.id}: ${state.calls} calls`);
    const wished = order.assets
      .flatMap((asset) =>
        Array.from({ length: asset.quantity }, () =>
          order.products.map((product) => product.id).filter((id) => id.startsWith(`${asset.id}-`)),
        ).flat(),
      )
      .sort();
    const shown = products
      .all(order.id)
      .map((row) => row.product)
      .sort();
    // Of a cancelled order nothing is left once a person approved that it goes.
    const isEnded = order.cancelled && shown.length === 0;
    if (wished.join() !== shown.join() && !isEnded)
      verdict.wrong.push(`order ${order.id} holds ${shown.join()}, not ${wished.join()}`);
  }
}

function judgeStaff(
  company: Company,
  services: SimulatedServices,
  enterprises: ReadonlyMap<string, number>,
  verdict: Verdict,
): void {
  const members = services.store.prepare<[number], { login: string }>(
    "SELECT user_name AS login FROM staff WHERE enterprise_id = ? AND deleted = 0 AND role = 'added'",
  );
  const holdings = services.store.prepare<[number], { instance: string; login: string }>(
    `SELECT DISTINCT substr(products.crm_product_id, 1, instr(products.crm_product_id, '-P') - 1) AS instance, staff.user_name AS login
     FROM assets JOIN staff ON staff.id = assets.holder_id
     JOIN products ON products.asset_id = assets.id AND products.merchandise_id IS NULL
     WHERE assets.enterprise_id = ? AND assets.removed_by IS NULL`,
  );
  for (const [customer, enterprise] of enterprises) {
    const shown = members.all(enterprise).map((row) => row.login);
    for (const login of shown)
      if (!company.everStaff.has(`${customer} ${login}`))
        verdict.wrong.push(`${login} was never wished at ${customer}`);
    const people = company.staff.filter((person) => person.customer === customer && !person.gone);
    for (const person of people)
      if (!shown.includes(person.login)) verdict.lost.push(`${person.id} (${person.login}) at ${customer}`);
    const held = holdings.all(enterprise).map((row) => `${row.instance} with ${row.login}`);
    const wished = people.flatMap((person) => person.holds.map((asset) => `${asset} with ${person.login}`));
    for (const item of wished) if (!held.includes(item)) verdict.lost.push(`${item} at ${customer}`);
    for (const item of held)
      if (!wished.includes(item)) verdict.lost.push(`${item} at ${customer} was to be taken away`);
  }
}

function judgeLedger(services: SimulatedServices, ledger: LedgerView, path: string, verdict: Verdict): void {
  const { wrong } = verdict;
  const texts = (sql: string): string[] => ledger.rows(z.object({ text: z.string() }), sql).map((row) => row.text);
  for (const text of texts(
    "select endpoint || ' on ' || subject || ' is ' || state as text from operation where state not in ('done', 'rejected', 'dropped')",
  ))
    wrong.push(text);
  for (const text of texts("select operation_id as text from attempt where finished_at is null"))
    wrong.push(`an attempt of ${text} has no end`);
  for (const text of texts("select nonce as text from attempt group by nonce having count(*) > 1"))
    wrong.push(`two attempts went out with the nonce ${text}`);
  for (const text of texts("select id as text from run where state = 'running'")) wrong.push(`run ${text} never ended`);

  const same = (what: string, inLedger: readonly string[], onPlatform: readonly string[]): void => {
    const missing = onPlatform.filter((item) => !inLedger.includes(item));
    const extra = inLedger.filter((item) => !onPlatform.includes(item));
    if (missing.length > 0) wrong.push(`${what}: on the platform but not in the ledger: ${missing.join(", ")}`);
    if (extra.length > 0) wrong.push(`${what}: in the ledger but not on the platform: ${extra.join(", ")}`);
  };
  const { store } = services;
  same(
    "orders",
    texts("select channel_order_id as text from placed_order where to_at is null"),
    store
      .prepare<[], string>("SELECT DISTINCT channel_order_id FROM license_orders WHERE order_type = 'new_buy'")
      .pluck()
      .all(),
  );
  same(
    "licence orders",
    texts("select license_order_id as text from licence_order"),
    store
      .prepare<[], number>("SELECT id FROM license_orders WHERE order_type = 'new_buy'")
      .pluck()
      .all()
      .map((row) => identifierOf("licenseOrder", row)),
  );
  same(
    "enterprises",
    texts("select enterprise_global_id as text from link where to_at is null"),
    store
      .prepare<[], number>("SELECT id FROM enterprises")
      .pluck()
      .all()
      .map((row) => identifierOf("enterprise", row)),
  );
  same(
    "asset numbers",
    texts(
      `select n.wire_number as text from asset_number n join placed_order p on p.namespace = n.namespace and p.order_id = n.order_id
       where n.fixed_at is not null and n.ended_at is null and p.to_at is null`,
    ),
    store.prepare<[], string>("SELECT asset_number FROM assets WHERE removed_by IS NULL").pluck().all(),
  );
  same(
    "holders",
    texts("select asset_number || ' with ' || member_global_id as text from assignment where to_at is null"),
    store
      .prepare<[], { number: string; holder: number }>(
        "SELECT asset_number AS number, holder_id AS holder FROM assets WHERE removed_by IS NULL AND holder_id IS NOT NULL",
      )
      .all()
      .map((row) => `${row.number} with ${identifierOf("member", row.holder)}`),
  );

  wrong.push(...auditIsWhole(ledger, path));
  for (const { place, text } of ledger.texts(["private_value"]))
    if (privateText.test(text)) wrong.push(`${place} holds something private: ${text}`);
}
