import { z } from "zod";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import { addStaffRequestSchema, configureAssetsRequestSchema } from "../contract/member-center.ts";
import { batchOrderRequestSchema } from "../contract/order-record.ts";
import {
  bindEnterpriseRequestSchema,
  createEnterpriseRequestSchema,
  matchBySequence,
  updateEnterpriseRequestSchema,
} from "../contract/order-service.ts";
import type { ContractSettings } from "../contract/settings.ts";
import { channelCodesOf } from "../contract/settings.ts";
import { fillTemplate } from "../contract/template.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { OperationContext } from "../ledger/journal.ts";
import type { StateChange, Known, PayloadFacts } from "../operation/state.ts";
import { scrub } from "../http/redaction.ts";
import { isPrivateMarker } from "../operation/operation.ts";
import type { Operation } from "../operation/operation.ts";
import type { WriteCall, WriteOutcome } from "../platform/outcome.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import type { StaffMatch } from "./effects.ts";
import { enterpriseMade, matchAddedStaff, orderPlaced, privilegesSet, staffAdded } from "./effects.ts";
import {
  addStaffContext,
  enterpriseContext,
  orderContextOf,
  particulars,
  privilegeContext,
  updateContext,
} from "./intent.ts";

/** What the outcome of a call means for the ledger. */
export interface Conclusive {
  changes: StateChange[];
  audit: JsonObject;
  refused: StaffMatch["refused"];
}

/** `doubt`: it says nothing, so a reading decides. `contradiction`: it says what cannot be, so a person does. */
export type Concluded = Conclusive | { doubt: string } | { contradiction: string };

export interface Prepared {
  context: OperationContext;
  send(call: WriteCall): Promise<{ outcome: WriteOutcome<unknown>; conclude: (id: string) => Concluded }>;
}

/** What a plan says an order will be, in `after`. */
export const plannedOrder = z.object({
  version: z.int(),
  bodyHash: z.string(),
  assets: z.array(z.object({ id: z.string(), licenseType: z.string(), quantity: z.int(), given: z.array(z.string()) })),
});

export type PlannedOrder = z.infer<typeof plannedOrder>;

/** Which templates tie a CRM customer to its channel number: confirmed once E3 showed an enterprise that an E2 of this ledger made (A8). */
export function correlationOf(settings: ContractSettings): string {
  return correlation(settings, settings.channelCustomerIdTemplate);
}

/** What E3 has to have shown for a customer to be believed absent: its template, or, where the CRM gave a number of its own, that very number. */
export function correlationFor(settings: ContractSettings, customer: RecordKey, channelCustomerId: string): string {
  const { id, namespace } = customer;
  const made = fillTemplate(settings.channelCustomerIdTemplate, { id, namespace });
  return made === channelCustomerId ? correlationOf(settings) : correlation(settings, channelCustomerId);
}

function correlation(settings: ContractSettings, channelCustomerId: string): string {
  return `${settings.crmCustomerIdTemplate} ${channelCustomerId} ${channelCodesOf(settings).join(",")}`;
}

function invalid(issues: readonly { path: readonly PropertyKey[]; message: string }[]): {
  code: string;
  reason: string;
} {
  const [first] = issues;
  return {
    code: "payload.not-sendable",
    reason: `the payload does not fit the contract at ${first === undefined ? "its top" : first.path.map(String).join(".")}: ${first?.message ?? "unknown"}`,
  };
}

/** Checks a bound payload against the contract and makes its call, its context, and what its success means. */
export function prepare(
  deps: ApplyDependencies,
  operation: Operation,
  known: PayloadFacts,
  wire: JsonObject,
  target: JsonObject,
  options: { shownBefore?: readonly string[] | undefined },
): Prepared | { code: string; reason: string } {
  const { orderService, memberCenter } = deps.platform;
  const { customer } = operation;
  switch (operation.kind) {
    case "create-enterprise":
    case "bind-enterprise": {
      const channelCustomerId = z.string().parse(target["channelCustomerId"]);
      const context = enterpriseContext.parse({
        channelCodes: channelCodesOf(deps.settings),
        channelCustomerId,
        correlation: correlationFor(deps.settings, customer, channelCustomerId),
        acknowledged: operation.after,
      });
      if (operation.kind === "bind-enterprise") {
        const request = bindEnterpriseRequestSchema.safeParse(wire);
        if (!request.success) return invalid(request.error.issues);
        return {
          context,
          send: async (call) => {
            const outcome = await orderService.bindEnterprise(request.data, call);
            return {
              outcome,
              conclude: () => {
                if (outcome.kind !== "done") return { doubt: "no data" };
                const { data } = outcome;
                const { channelCode, channelCustomerId: asked } = request.data;
                if (data.channelCustomerId !== asked || data.channelCode !== channelCode)
                  return { doubt: "E1 answered with a customer of another channel number than the one that was sent" };
                const made = enterpriseMade(customer, context, {
                  enterpriseGlobalId: data.enterpriseGlobalId,
                  channelCode: data.channelCode,
                  origin: "bound",
                  members: [],
                });
                return { ...made, refused: [] };
              },
            };
          },
        };
      }
      const request = createEnterpriseRequestSchema.safeParse(wire);
      if (!request.success) return invalid(request.error.issues);
      return {
        context,
        send: async (call) => {
          const outcome = await orderService.createEnterprise(request.data, call);
          return {
            outcome,
            conclude: () => {
              if (outcome.kind !== "done") return { doubt: "no data" };
              const made = enterpriseMade(customer, context, {
                enterpriseGlobalId: outcome.data.enterpriseGlobalId,
                channelCode: deps.settings.channelCode ?? "",
                origin: "created",
                members: outcome.data.members.map((member) => member.memberGlobalId),
              });
              return { ...made, refused: [] };
            },
          };
        },
      };
    }
    case "update-enterprise": {
      const request = updateEnterpriseRequestSchema.safeParse(wire);
      if (!request.success) return invalid(request.error.issues);
      const context = updateContext.parse({ acknowledged: operation.after });
      return {
        context,
        send: async (call) => ({
          outcome: await orderService.updateEnterprise(request.data, call),
          conclude: () => ({
            changes: [{ type: "acknowledged", customer, fields: context.acknowledged }],
            audit: { enterpriseGlobalId: known.link?.enterpriseGlobalId },
            refused: [],
          }),
        }),
      };
    }
    case "place-order": {
      const request = batchOrderRequestSchema.safeParse(wire);
      if (!request.success) return invalid(request.error.issues);
      const planned = plannedOrder.parse(operation.after);
      const [order] = operation.records;
      if (order === undefined) return { code: "order.unnamed", reason: "the operation names no order" };
      const context = orderContextOf(wire, {
        order: { namespace: order.namespace, id: order.id },
        bodyHash: planned.bodyHash,
        version: planned.version,
        secrets: JSON.stringify(operation.payload).includes('"field":"instances['),
      });
      return {
        context,
        send: async (call) => {
          const outcome = await orderService.placeOrders(request.data, call);
          return {
            outcome,
            conclude: (id) => {
              if (outcome.kind !== "done") return { doubt: "no data" };
              const matched = matchBySequence(request.data, outcome.data);
              if (!matched.ok) return { doubt: matched.error.map((problem) => problem.message).join("; ") };
              const licenceOrders = new Map(
                [...matched.value].map(([sequence, result]) => [sequence, result.licenseOrderId ?? ""]),
              );
              return { ...orderPlaced(id, customer, context, licenceOrders), refused: [] };
            },
          };
        },
      };
    }
    case "add-staff":
      return prepareStaff(deps, operation, known, wire, target, options);
    case "grant-assets":
    case "revoke-assets": {
      const request = configureAssetsRequestSchema.safeParse(wire);
      if (!request.success) return invalid(request.error.issues);
      const [staff] = operation.records;
      const context = privilegeContext.parse({
        enterpriseGlobalId: known.link?.enterpriseGlobalId ?? "",
        memberGlobalId: target["memberGlobalId"],
        staff: { namespace: staff?.namespace ?? "", id: staff?.id ?? "" },
        ...request.data,
      });
      return {
        context,
        send: async (call) => ({
          outcome: await memberCenter.configureAssets(context.memberGlobalId, request.data, {
            ...call,
            enterpriseGlobalId: context.enterpriseGlobalId,
          }),
          conclude: (id) => ({
            ...privilegesSet(id, customer, context, { granted: context.addAssets, revoked: context.deleteAssets }),
            refused: [],
          }),
        }),
      };
    }
    case "take-asset-numbers":
      return { code: "payload.not-sendable", reason: "asset numbers are taken by the pool only" };
  }
}

function prepareStaff(
  deps: ApplyDependencies,
  operation: Operation,
  known: PayloadFacts,
  wire: JsonObject,
  target: JsonObject,
  options: { shownBefore?: readonly string[] | undefined },
): Prepared | { code: string; reason: string } {
  const request = addStaffRequestSchema.safeParse(wire);
  if (!request.success) return invalid(request.error.issues);
  const planned = z.array(particulars.extend({ staff: z.string() })).parse(operation.after);
  const context = addStaffContext.parse({
    enterpriseGlobalId: target["enterpriseGlobalId"],
    shownBefore: [...(options.shownBefore ?? [])],
    staff: planned.map((person, index) => ({
      key: keyOf(operation, index),
      particulars: person,
      password: sealedPassword(operation, index),
    })),
  });
  const sent = request.data.userList.map((person, index) => ({
    key: keyOf(operation, index),
    userName: person.userName,
  }));
  return {
    context,
    send: async (call) => {
      const outcome = await deps.platform.memberCenter.addStaff(context.enterpriseGlobalId, request.data, call);
      const owners = await deps.ledger.known(operation.customer);
      return {
        outcome,
        conclude: () => {
          if (outcome.kind !== "done" && outcome.kind !== "partial") return { doubt: "no data" };
          const match = matchAddedStaff(sent, outcome.data, known.enterpriseCode);
          if (match === undefined) return { doubt: "the answer's rows cannot be tied to the staff that were sent" };
          const taken = takenIds(owners, match.added);
          if (taken !== undefined) return { contradiction: taken };
          return {
            ...staffAdded(operation.customer, context, match),
            refused: match.refused.map((refused) => ({ ...refused, message: scrub(refused.message, textsOf(wire)) })),
          };
        },
      };
    },
  };
}

/** Why the ids of M1's answer cannot be those of new people: each is somebody else's already, or came for two. */
function takenIds(
  known: Pick<Known, "staffLinks" | "protectedMembers">,
  added: StaffMatch["added"],
): string | undefined {
  const owners = new Map([...known.staffLinks.values()].map((link) => [link.memberGlobalId, formatKey(link.key)]));
  const seen = new Set<string>();
  for (const { key, globalId } of added) {
    const owner = owners.get(globalId);
    if (owner !== undefined && owner !== formatKey(key)) {
      return `M1 answered for ${formatKey(key)} with the globalId ${globalId}, which is linked to ${owner}; nobody was linked`;
    }
    if (known.protectedMembers.has(globalId)) {
      return `M1 answered for ${formatKey(key)} with the globalId ${globalId} of an account that was made together with the enterprise; nobody was linked`;
    }
    if (seen.has(globalId)) return `M1 answered with the globalId ${globalId} for two people; nobody was linked`;
    seen.add(globalId);
  }
  return undefined;
}

function keyOf(operation: Operation, index: number): RecordKey {
  const record = operation.records[index];
  if (record === undefined) throw new Error(`operation on ${operation.subject} names no record ${index}`);
  return { namespace: record.namespace, id: record.id };
}

function sealedPassword(operation: Operation, index: number): { ref: string; version: number } | undefined {
  const list = operation.payload["userList"];
  const person = Array.isArray(list) ? list[index] : undefined;
  if (typeof person !== "object" || person === null || Array.isArray(person)) return undefined;
  const { password } = person;
  return isPrivateMarker(password) ? { ref: password.$private, version: password.version } : undefined;
}

/** Every text of a wire payload, longest first: what a refusal in the service's words must not repeat. */
export function textsOf(value: Json): string[] {
  const texts: string[] = [];
  const visit = (item: Json | undefined): void => {
    if (typeof item === "string" && item.length > 2) texts.push(item);
    else if (Array.isArray(item)) item.forEach(visit);
    else if (typeof item === "object" && item !== null) Object.values(item).forEach(visit);
  };
  visit(value);
  return texts.sort((left, right) => right.length - left.length);
}
