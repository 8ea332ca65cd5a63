import { z } from "zod";
import { acknowledged, checked, identifierOf, Refusal, requiredText, success, type Answer } from "./answers.ts";
import type { Call, Platform, Run } from "./endpoints.ts";
import { addStaff } from "./staff.ts";
import type { Store } from "./store.ts";

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

export function enterpriseOperations(platform: Platform): { E1: Run; E2: Run; E3: Run; E4: Run } {
  return {
    E1: (call) => bindEnterprise(platform, call),
    E2: (call) => createEnterprise(platform, call),
    E3: (call) => queryCustomers(platform, call),
    E4: (call) => updateCustomer(platform, call),
  };
}

function addEnterprise(
  { store, enterpriseCode }: Platform,
  name: string,
  madeBy: "E1" | "E2",
  now: number,
): { enterprise: number; code: string } {
  const enterprise = store.insert("enterprises", { code: "", name, made_by: madeBy, created_at: now });
  const code = enterpriseCode(enterprise);
  store.run("UPDATE enterprises SET code = ? WHERE id = ?", code, enterprise);
  return { enterprise, code };
}

interface MadeCustomer {
  enterprise: number;
  channelCode: string;
  channelCustomerId: string;
  customerName: string;
  branchName: string;
  address: string;
}

function addCustomer(store: Store, made: MadeCustomer, kind: "bound" | "default" | "industry", now: number): number {
  return store.insert("customers", {
    enterprise_id: made.enterprise,
    channel_code: made.channelCode,
    channel_customer_id: made.channelCustomerId,
    name: made.customerName,
    branch_name: made.branchName,
    address: made.address,
    kind,
    is_default: kind === "industry" ? 0 : 1,
    created_at: now,
    updated_at: now,
  });
}

function bindEnterprise(platform: Platform, call: Call): Answer {
  const body = checked(bindSchema, call.body);
  const now = platform.now();
  const { enterprise } = addEnterprise(platform, body.enterpriseName, "E1", now);
  const customer = addCustomer(platform.store, { ...body, enterprise, address: "" }, "bound", now);
  return success({
    customerId: identifierOf("customer", customer),
    channelCode: body.channelCode,
    channelCustomerId: body.channelCustomerId,
    enterpriseGlobalId: identifierOf("enterprise", enterprise),
    enterpriseName: body.enterpriseName,
    isDefault: true,
  });
}

export function makeEnterprise(platform: Platform, made: Omit<MadeCustomer, "enterprise">) {
  const { store } = platform;
  const now = platform.now();
  const { enterprise, code } = addEnterprise(platform, made.customerName, "E2", now);
  for (const kind of ["default", "industry"] as const) addCustomer(store, { ...made, enterprise }, kind, now);
  const members = (["administrator", "member"] as const).map((role) => {
    const row = addStaff(store, { enterprise, role, userName: role, name: role }, now);
    return { memberGlobalId: identifierOf("member", row), memberIdentity: role + code };
  });
  return { enterpriseGlobalId: identifierOf("enterprise", enterprise), members };
}

function createEnterprise(platform: Platform, call: Call): Answer {
  const { crmCustomerId, address, ...body } = checked(customerSchema, call.body);
  const { channelCode } = platform.settings;
  const { enterpriseGlobalId, members } = makeEnterprise(platform, {
    ...body,
    channelCustomerId: crmCustomerId,
    address: address ?? "",
    channelCode,
  });
  return success({ enterpriseGlobalId, defaultType: true, members });
}

function queryCustomers(platform: Platform, call: Call): Answer {
  const query = checked(querySchema, Object.fromEntries(call.query));
  const rows = platform.store.all<CustomerRow>(
    `SELECT customers.id, channel_code, channel_customer_id, enterprise_id, enterprises.name AS enterprise_name,
     is_default
     FROM customers JOIN enterprises ON enterprises.id = enterprise_id
     WHERE channel_customer_id = ? AND channel_code = ? AND (is_default = 1 OR ? = 'N') ORDER BY customers.id`,
    query.channelCustomerId,
    query.channelCode,
    query.defaultCustomer,
  );
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

function updateCustomer(platform: Platform, call: Call): Answer {
  const body = checked(customerSchema, call.body);
  const changes = platform.store.run(
    `UPDATE customers SET name = ?, branch_name = ?, address = COALESCE(?, address), updated_at = ?
     WHERE channel_customer_id = ? AND kind IN ('default', 'industry')`,
    body.customerName,
    body.branchName,
    body.address ?? null,
    platform.now(),
    body.crmCustomerId,
  );
  if (changes === 0) throw new Refusal("13004", "crmCustomerId: no such customer");
  return acknowledged();
}
