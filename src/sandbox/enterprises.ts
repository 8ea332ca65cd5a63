import { z } from "zod";
import { acknowledged, checked, identifierOf, Refusal, requiredText, success } from "./answers.ts";
import type { Answer } from "./answers.ts";
import type { Call, Platform, Run } from "./endpoints.ts";

const bindSchema = z.strictObject({
  channelCode: requiredText,
  channelCustomerId: requiredText,
  customerName: requiredText,
  branchName: requiredText,
  enterpriseName: requiredText,
  passwordMobile: requiredText,
});

const customerSchema = z.strictObject({
  crmCustomerId: requiredText,
  customerName: requiredText,
  branchName: requiredText,
  address: z.string().nullish(),
});

const querySchema = z.object({
  channelCode: requiredText,
  channelCustomerId: requiredText,
  defaultCustomer: z.enum(["Y", "N"]),
});

interface CustomerRow {
  id: number;
  channel_code: string;
  channel_customer_id: string;
  enterprise_id: number;
  enterprise_name: string;
  is_default: number;
}

type CustomerKind = "bound" | "default" | "industry";

/** What is common to these calls: the platform, and their statements, prepared once. */
function contextOf(platform: Platform) {
  const { store } = platform;
  return {
    ...platform,
    insertEnterprise: store.prepare<[string, string, number]>(
      "INSERT INTO enterprises (code, name, made_by, created_at) VALUES ('', ?, ?, ?)",
    ),
    setCode: store.prepare<[string, number]>("UPDATE enterprises SET code = ? WHERE id = ?"),
    insertCustomer: store.prepare<
      [number, string, string, string, string, string, CustomerKind, number, number, number]
    >(
      `INSERT INTO customers (enterprise_id, channel_code, channel_customer_id, name, branch_name, address, kind,
       is_default, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertStaff: store.prepare<[number, string, string, string, number, number]>(
      `INSERT INTO staff (enterprise_id, role, user_name, name, mobile, password_hash, created_at, updated_at)
       VALUES (?, ?, ?, ?, '', '', ?, ?)`,
    ),
    findCustomers: store.prepare<[string, string, string], CustomerRow>(
      `SELECT customers.id, channel_code, channel_customer_id, enterprise_id, enterprises.name AS enterprise_name,
       is_default
       FROM customers JOIN enterprises ON enterprises.id = enterprise_id
       WHERE channel_customer_id = ? AND channel_code = ? AND (is_default = 1 OR ? = 'N') ORDER BY customers.id`,
    ),
    updateCustomers: store.prepare<[string, string, string | null, number, string]>(
      `UPDATE customers SET name = ?, branch_name = ?, address = COALESCE(?, address), updated_at = ?
       WHERE channel_customer_id = ? AND kind IN ('default', 'industry')`,
    ),
  };
}

type Context = ReturnType<typeof contextOf>;

/** E1–E4: enterprises with their customers. */
export function enterpriseOperations(platform: Platform): { E1: Run; E2: Run; E3: Run; E4: Run } {
  const context = contextOf(platform);
  return {
    E1: (call) => bindEnterprise(context, call),
    E2: (call) => createEnterprise(context, call),
    E3: (call) => queryCustomers(context, call),
    E4: (call) => updateCustomer(context, call),
  };
}

function addEnterprise(
  context: Context,
  name: string,
  madeBy: "E1" | "E2",
  now: number,
): { enterprise: number; code: string } {
  const enterprise = Number(context.insertEnterprise.run(name, madeBy, now).lastInsertRowid);
  const code = context.enterpriseCode(enterprise);
  context.setCode.run(code, enterprise);
  return { enterprise, code };
}

function bindEnterprise(context: Context, call: Call): Answer {
  const body = checked(bindSchema, call.body);
  const now = context.now();
  const { enterprise } = addEnterprise(context, body.enterpriseName, "E1", now);
  const { lastInsertRowid } = context.insertCustomer.run(
    enterprise,
    body.channelCode,
    body.channelCustomerId,
    body.customerName,
    body.branchName,
    "",
    "bound",
    1,
    now,
    now,
  );
  return success({
    customerId: identifierOf("customer", Number(lastInsertRowid)),
    channelCode: body.channelCode,
    channelCustomerId: body.channelCustomerId,
    enterpriseGlobalId: identifierOf("enterprise", enterprise),
    enterpriseName: body.enterpriseName,
    isDefault: true,
  });
}

interface MadeEnterprise {
  channelCustomerId: string;
  customerName: string;
  branchName: string;
  address: string;
  channelCode: string;
}

/** An enterprise with its two customers, its administrator and a staff member. */
function makeEnterprise(context: Context, made: MadeEnterprise) {
  const now = context.now();
  const { channelCode, channelCustomerId, customerName, branchName, address } = made;
  const { enterprise, code } = addEnterprise(context, customerName, "E2", now);
  for (const kind of ["default", "industry"] as const) {
    const isDefault = kind === "default" ? 1 : 0;
    context.insertCustomer.run(
      enterprise,
      channelCode,
      channelCustomerId,
      customerName,
      branchName,
      address,
      kind,
      isDefault,
      now,
      now,
    );
  }
  const members = (["administrator", "member"] as const).map((role) => {
    const { lastInsertRowid } = context.insertStaff.run(enterprise, role, role, role, now, now);
    return { memberGlobalId: identifierOf("member", Number(lastInsertRowid)), memberIdentity: role + code };
  });
  return { enterpriseGlobalId: identifierOf("enterprise", enterprise), members };
}

/** An enterprise as E2 makes it, by a person; answers its global id. */
export function enterpriseByHand(platform: Platform): (made: MadeEnterprise) => string {
  const context = contextOf(platform);
  return (made) => makeEnterprise(context, made).enterpriseGlobalId;
}

function createEnterprise(context: Context, call: Call): Answer {
  const { crmCustomerId, address, ...body } = checked(customerSchema, call.body);
  const { channelCode } = context.settings;
  const { enterpriseGlobalId, members } = makeEnterprise(context, {
    ...body,
    channelCustomerId: crmCustomerId,
    address: address ?? "",
    channelCode,
  });
  return success({ enterpriseGlobalId, defaultType: true, members });
}

function queryCustomers(context: Context, call: Call): Answer {
  const query = checked(querySchema, Object.fromEntries(call.query));
  const rows = context.findCustomers.all(query.channelCustomerId, query.channelCode, query.defaultCustomer);
  return success(
    rows.map((row) => ({
      customerId: identifierOf("customer", row.id),
      channelCode: row.channel_code,
      channelCustomerId: row.channel_customer_id,
      enterpriseGlobalId: identifierOf("enterprise", row.enterprise_id),
      enterpriseName: row.enterprise_name,
      isDefault: row.is_default === 1,
    })),
  );
}

function updateCustomer(context: Context, call: Call): Answer {
  const body = checked(customerSchema, call.body);
  const { changes } = context.updateCustomers.run(
    body.customerName,
    body.branchName,
    body.address ?? null,
    context.now(),
    body.crmCustomerId,
  );
  if (changes === 0) throw new Refusal("13004", "crmCustomerId: no such customer");
  return acknowledged();
}
