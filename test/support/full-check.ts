import pLimit from "p-limit";
import { z } from "zod";
import { verifyRecord } from "../../src/ledger/audit/verify-log.ts";
import { headsPath, readKeptHeads } from "../../src/ledger/audit/audit-heads.ts";
import { LedgerView } from "./ledger-view.ts";
import { PlatformView, readDuplicates, readState } from "./platform-view.ts";

/** What the platform has to hold once everything is done. */
export interface Wished {
  enterprises: number;
  /** Purchases, by channel order number. */
  orders: number;
  /** Deletions, by channel order number; none where it is not said. */
  deletions?: number;
  products: number;
  addedStaff: number;
  assignments: number;
}

export interface FullCheck {
  ledger: string;
  sandbox: string;
  wished: Wished;
  /** Personal data of the records: may stand in the private table alone. */
  personal: readonly string[];
  /** Passwords: may stand nowhere in clear. */
  secrets?: readonly string[];
  /** Everything the program printed and logged. */
  output: readonly string[];
}

const linkRow = z.object({ namespace: z.string(), customer_id: z.string(), enterprise_global_id: z.string() });
const orderRow = z.object({
  namespace: z.string(),
  order_id: z.string(),
  channel_order_id: z.string(),
  enterprise_global_id: z.string(),
});
const licenceRow = z.object({
  channel_order_id: z.string(),
  license_type: z.string(),
  license_order_id: z.string(),
});
const numberRow = z.object({
  wire_number: z.string(),
  enterprise_global_id: z.string(),
  channel_order_id: z.string(),
  holder: z.string().nullable(),
});
const auditBody = z.looseObject({ operation: z.string().optional(), state: z.string().optional() });

/**
 * Looks at everything that has to be true when nothing is under way: the platform holds each wished thing exactly once,
 * the ledger says the same, the audit chain is whole and has one end for each operation, the last run balances, nothing
 * is open, and nothing private is where it may not be. Gives what is wrong, in words; nothing wrong is an empty list.
 */
export async function fullCheck(check: FullCheck): Promise<string[]> {
  const ledger = new LedgerView(check.ledger);
  try {
    return [
      ...(await platformHoldsWhatIsWished(check)),
      ...(await ledgerAgrees(ledger, check.sandbox)),
      ...nothingIsOpen(ledger),
      ...auditIsWhole(ledger, check.ledger),
      ...lastRunBalances(ledger),
      ...nothingPrivateElsewhere(ledger, check),
    ];
  } finally {
    ledger.close();
  }
}

async function platformHoldsWhatIsWished(check: FullCheck): Promise<string[]> {
  const wrong: string[] = [];
  const state = await readState(check.sandbox);
  for (const [what, found] of Object.entries(await readDuplicates(check.sandbox)))
    if (found.length > 0) wrong.push(`the platform holds ${what} twice: ${JSON.stringify(found)}`);
  const orders = [...Object.entries(state.orders), ...Object.entries(state.deletions)];
  const held: Required<Wished> = {
    enterprises: state.enterprises,
    orders: Object.keys(state.orders).length,
    deletions: Object.keys(state.deletions).length,
    products: state.products,
    addedStaff: state.addedStaff,
    assignments: state.assignments,
  };
  for (const [what, number] of Object.entries(held)) {
    const wished = check.wished[what as keyof Wished] ?? 0;
    if (number !== wished) wrong.push(`the platform holds ${number} ${what}, wished are ${wished}`);
  }
  for (const [channelOrderId, order] of orders) {
    if (order.calls !== 1 || order.waiting > 0 || order.failed > 0)
      wrong.push(`the order ${channelOrderId} is on the platform like this: ${JSON.stringify(order)}`);
  }
  if (state.deferred > 0) wrong.push(`${state.deferred} calls are still to be applied on the platform`);
  return wrong;
}

async function ledgerAgrees(ledger: LedgerView, sandbox: string): Promise<string[]> {
  const links = ledger.rows(
    linkRow,
    "select namespace, customer_id, enterprise_global_id from link where to_at is null",
  );
  const orders = ledger.rows(
    orderRow,
    `select p.namespace, p.order_id, p.channel_order_id, l.enterprise_global_id from placed_order p
     join link l on l.namespace = p.customer_namespace and l.customer_id = p.customer_id and l.to_at is null where p.to_at is null
     union all
     select s.namespace, s.order_id, s.channel_order_id, l.enterprise_global_id from order_step s
     join link l on l.namespace = s.customer_namespace and l.customer_id = s.customer_id and l.to_at is null
     where s.kind = 'bought'`,
  );
  const numbers = ledger.rows(
    numberRow,
    `select n.wire_number, l.enterprise_global_id, p.channel_order_id, a.member_global_id as holder from asset_number n
     join placed_order p on p.namespace = n.namespace and p.order_id = n.order_id and p.to_at is null
     join link l on l.namespace = p.customer_namespace and l.customer_id = p.customer_id and l.to_at is null
     left join assignment a on a.asset_number = n.wire_number and a.to_at is null
     where n.fixed_at is not null and n.ended_at is null`,
  );
  const licences = ledger.rows(
    licenceRow,
    `select p.channel_order_id, o.license_type, o.license_order_id from licence_order o
     join placed_order p on p.namespace = o.namespace and p.order_id = o.order_id and p.to_at is null
     union all
     select s.channel_order_id, l.value ->> 'licenseType', l.value ->> 'licenseOrderId'
     from order_step s, json_each(s.licence_orders) l where s.kind = 'bought'`,
  );
  const lessened = ledger.rows(
    z.object({ namespace: z.string(), order_id: z.string() }),
    "select distinct namespace, order_id from order_step where kind = 'removed'",
  );
  const members = ledger.rows(
    z.object({ enterprise_global_id: z.string(), member_global_id: z.string() }),
    `select enterprise_global_id, member_global_id from staff_link where to_at is null
     union select enterprise_global_id, member_global_id from protected_member`,
  );
  const wrong: string[] = [];
  const state = await readState(sandbox);
  const same = (what: string, inLedger: readonly string[], onPlatform: readonly string[]): void => {
    const missing = onPlatform.filter((item) => !inLedger.includes(item));
    const extra = inLedger.filter((item) => !onPlatform.includes(item));
    if (missing.length > 0) wrong.push(`${what}: on the platform but not in the ledger: ${missing.join(", ")}`);
    if (extra.length > 0) wrong.push(`${what}: in the ledger but not on the platform: ${extra.join(", ")}`);
  };
  same(
    "orders",
    orders.map((order) => order.channel_order_id),
    Object.keys(state.orders),
  );
  if (links.length !== state.enterprises)
    wrong.push(`the ledger links ${links.length} customers, the platform holds ${state.enterprises} enterprises`);
  const view = new PlatformView(sandbox);
  const shownLicences = new Map<string, Set<string>>();
  const limit = pLimit(64);
  const lookAt = async (link: z.infer<typeof linkRow>): Promise<void> => {
    const enterprise = link.enterprise_global_id;
    const where = `${link.namespace}/${link.customer_id}`;
    const ours = numbers.filter((row) => row.enterprise_global_id === enterprise);
    const assets = await limit(() => view.assets(enterprise));
    const staff = await limit(() => view.members(enterprise));
    same(
      `assets and their holders of ${where}`,
      ours.map((row) => `${row.wire_number} with ${row.holder ?? "nobody"}`),
      assets.map((row) => `${row.assetNum} with ${row.cloudAccountGlobalId ?? "nobody"}`),
    );
    same(
      `staff of ${where}`,
      members.filter((row) => row.enterprise_global_id === enterprise).map((row) => row.member_global_id),
      staff.map((row) => row.globalId),
    );
    const contents = await Promise.all(assets.map((asset) => limit(() => view.products(asset.assetId))));
    for (const [index, asset] of assets.entries()) {
      const order = ours.find((row) => row.wire_number === asset.assetNum)?.channel_order_id;
      const named = orders.find((row) => row.channel_order_id === order);
      for (const product of contents[index] ?? []) {
        const bought = orders.find((row) => row.channel_order_id === product.channelOrderId);
        if (named === undefined || bought?.namespace !== named.namespace || bought.order_id !== named.order_id)
          wrong.push(`${asset.assetNum} of ${order ?? "no order"} holds a product of ${product.channelOrderId}`);
        const shown = shownLicences.get(product.channelOrderId) ?? new Set();
        shownLicences.set(product.channelOrderId, shown.add(`${product.licenseType} ${product.licenseOrderId}`));
      }
    }
  };
  await Promise.all(links.map((link) => lookAt(link)));
  for (const order of orders) {
    const shown = shownLicences.get(order.channel_order_id) ?? new Set();
    // M7 shows a licence order only by what it holds, which may be nothing any more where something was taken away.
    const isLess = lessened.some((row) => row.namespace === order.namespace && row.order_id === order.order_id);
    same(
      `licence orders of ${order.channel_order_id}`,
      licences
        .filter((row) => row.channel_order_id === order.channel_order_id)
        .map((row) => `${row.license_type} ${row.license_order_id}`)
        .filter((licence) => !isLess || shown.has(licence)),
      [...shown],
    );
  }
  return wrong;
}

function nothingIsOpen(ledger: LedgerView): string[] {
  const open = ledger.rows(
    z.object({ endpoint: z.string(), subject: z.string(), state: z.string() }),
    "select endpoint, subject, state from operation where state not in ('done', 'rejected', 'dropped')",
  );
  const attempts = ledger.rows(
    z.object({ operation_id: z.string() }),
    "select operation_id from attempt where finished_at is null",
  );
  const nonces = ledger.rows(
    z.object({ nonce: z.string() }),
    "select nonce from attempt group by nonce having count(*) > 1",
  );
  const empty = ledger.rows(
    z.object({ id: z.string() }),
    `select id from operation where endpoint = 'E9' and state = 'done'
     and not exists (select 1 from asset_number where asset_number.operation_id = operation.id)`,
  );
  return [
    ...empty.map((row) => `${row.id} took asset numbers, and none came of it`),
    ...open.map((row) => `${row.endpoint} on ${row.subject} is ${row.state}`),
    ...attempts.map((row) => `an attempt of ${row.operation_id} has no end`),
    ...nonces.map((row) => `two attempts went out with the nonce ${row.nonce}`),
  ];
}

/**
 * What is wrong with the audit chain and with what it says about the ends of operations; holds at any moment, after a
 * kill too.
 */
export function auditIsWhole(ledger: LedgerView, path: string): string[] {
  const rows = ledger.auditEntries();
  const wrong: string[] = [];
  const verdict = verifyRecord({ rows, heads: readKeptHeads(headsPath(path)) });
  if (!verdict.good) wrong.push(`audit: ${JSON.stringify(verdict)}`);
  const ends = new Map<string, number>();
  for (const row of rows) {
    const { operation, state } = auditBody.parse(JSON.parse(row.body));
    if (operation !== undefined && (state === "done" || state === "rejected" || state === "dropped"))
      ends.set(operation, (ends.get(operation) ?? 0) + 1);
  }
  const concluded = ledger.rows(
    z.object({ id: z.string(), attempts: z.int() }),
    `select id, (select count(*) from attempt where operation_id = operation.id) as attempts from operation
     where state in ('done', 'rejected', 'dropped')`,
  );
  for (const { id, attempts } of concluded) {
    const found = ends.get(id) ?? 0;
    if (attempts > 0 && found !== 1) wrong.push(`audit: ${found} entries say how ${id} ended`);
    if (attempts === 0 && found !== 0) wrong.push(`audit: ${id} was never sent, and ${found} entries say how it ended`);
  }
  const known = new Set(concluded.map((row) => row.id));
  for (const id of ends.keys()) if (!known.has(id)) wrong.push(`audit: an entry says how ${id} ended, and it has not`);
  return wrong;
}

function lastRunBalances(ledger: LedgerView): string[] {
  const [last] = ledger.rows(
    z.object({ id: z.string(), state: z.string(), balance: z.string().nullable() }),
    "select id, state, balance from run where kind = 'sync' order by started_at desc, id desc limit 1",
  );
  if (last === undefined) return ["there was no run"];
  const { adds } = z.looseObject({ adds: z.boolean() }).parse(JSON.parse(last.balance ?? '{"adds":false}'));
  const wrong: string[] = [];
  if (last.state !== "done") wrong.push(`the last run ${last.id} is ${last.state}`);
  if (!adds) wrong.push(`the last run ${last.id} does not balance: ${last.balance}`);
  const running = ledger.rows(z.object({ id: z.string() }), "select id from run where state = 'running'");
  return [...wrong, ...running.map((run) => `the run ${run.id} never ended`)];
}

function nothingPrivateElsewhere(ledger: LedgerView, check: FullCheck): string[] {
  const wrong = new Set<string>();
  const look = (place: string, text: string, needles: readonly string[]): void => {
    for (const needle of needles) if (text.includes(needle)) wrong.add(`${place} holds ${JSON.stringify(needle)}`);
  };
  const { personal, secrets = [] } = check;
  for (const { place, text } of ledger.texts(["private_value"])) look(place, text, [...personal, ...secrets]);
  if (secrets.length > 0) for (const { place, text } of ledger.texts([])) look(place, text, secrets);
  for (const text of check.output) look("what the program printed", text, [...personal, ...secrets]);
  return [...wrong];
}
