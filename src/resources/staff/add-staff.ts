import { z } from "zod";
import { checked } from "../../contract/fits.ts";
import { addStaffRequestSchema } from "../../contract/member-center.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { ObservedMember, Snapshot } from "../../platform/snapshot.ts";
import type { AssumptionMet } from "../../engine/model/assumptions-met.ts";
import {
  notSendable,
  type Bound,
  type Effect,
  type Evidence,
  type JournalEntry,
  type NotSendable,
  type Prepared,
  type SettleFacts,
  type OperationType,
} from "../../engine/model/operation-type.ts";
import {
  memberDesk,
  some,
  withinEnterprise,
  generatedPassword,
  isPrivateMarker,
  privateMarker,
  references,
} from "../../engine/model/references.ts";
import { adds, named, peopleOf } from "../../engine/model/operation-line.ts";
import type { Draft, ShapesOf } from "../../engine/model/resource.ts";
import type { Known, StateChange } from "../../engine/model/state.ts";
import { matchAddedStaff, commitments, type StaffMatch } from "./profile.ts";

const schemas = {
  target: z.object({ enterpriseGlobalId: z.union([z.string(), references.enterpriseGlobalId]) }),
  payload: z.object({
    userList: z.array(
      z.object({
        userName: privateMarker,
        password: z.union([privateMarker, generatedPassword]).optional(),
        departmentId: z.union([z.string(), z.number()]).optional(),
        name: privateMarker,
        remark: privateMarker.optional(),
        passwordMobile: privateMarker.optional(),
      }),
    ),
  }),
  before: z.null(),
  after: z.array(commitments.extend({ staff: z.string() })),
  context: z.object({
    enterpriseGlobalId: z.string(),
    /** Members that M5 showed before the call (A29). */
    shownBefore: z.array(z.string()),
    /** `password`: where the CRM's password is sealed until use (A30). */
    staff: z.array(
      z.object({
        key: z.object({ namespace: z.string(), id: z.string() }),
        particulars: commitments,
        password: z.object({ ref: z.string(), version: z.int() }).optional(),
      }),
    ),
  }),
};
export type AddShapes = ShapesOf<typeof schemas>;
type AddContext = AddShapes["context"];
export type AddedPerson = AddShapes["payload"]["userList"][number];

/** M1 adds people. A person rejected alone is reported; people rejected together are sent again in parts. */
export const addStaff: OperationType<AddShapes> = {
  endpoint: "M1",
  stages: ["staff"],
  schemas,
  invalidates: ["members"],
  prepare,
  onUnknown: { by: "observe", observe, nonRepeatable: true },
  decide: {
    applied: (_, evidence) => ({
      code: "settle.nobody-to-link",
      why:
        evidence.kind === "ambiguous"
          ? evidence.reason
          : "the platform (M5) does not show all of these people, so crm-sync cannot link them",
      cure:
        "wait until M5 shows all of them, or decide --not-applied: visible accounts are kept, and the next run plans " +
        "the others again",
    }),
  },
  reversal: { how: "approximate", by: "M4", difference: "the person comes back as another member" },
  whereToLook: ({ records, context }) => ({
    what:
      `accounts of the staff records ${some(records.map(formatKey))}; the CRM has their user names, ` +
      "the platform appends the enterprise's code",
    where: `back office of the member-center, staff of ${withinEnterprise(context)}; M5 shows them`,
    whom: memberDesk,
  }),
  can: {
    items: ({ records, payload: { userList } }) =>
      records.map((record, index) => ({ record, part: userList[index] ?? null })),
    credentials: { accounts: ({ records }) => records },
    assumes: {
      by: ({ customer }) => [
        { row: "A29", about: formatKey(customer) },
        { row: "A31", isOnlyTold: true, codes: ["30002", "30003"] },
      ],
    },
    prints: { line: async ({ records }, called) => adds(`add staff ${named(peopleOf(records, called))}`) },
  },
};

function prepare(bound: Bound<AddShapes>): Prepared<AddShapes> | NotSendable {
  const { operation, facts } = bound;
  const request = checked(addStaffRequestSchema, bound.wire);
  if (!request.success) return notSendable(request.error.issues);
  const context: AddContext = {
    enterpriseGlobalId: z.string().parse(bound.target["enterpriseGlobalId"]),
    shownBefore: bound.shownBefore.map(({ globalId }) => globalId),
    staff: operation.after.map(({ userName, name, remark, mobile, departmentId }, index) => ({
      key: keyOf(operation, index),
      particulars: { userName, name, remark, mobile, departmentId },
      password: sealedPassword(operation, index),
    })),
  };
  const sent = request.data.userList.map((person, index) => ({
    key: keyOf(operation, index),
    userName: person.userName,
  }));
  return {
    context,
    send: async ({ memberCenter }, call) => {
      const outcome = await memberCenter.addStaff(context.enterpriseGlobalId, request.data, call);
      const owners = bound.known();
      return {
        outcome,
        conclude: () => {
          if (outcome.kind !== "done" && outcome.kind !== "partial") return { doubt: "no data" };
          const match = matchAddedStaff(sent, outcome.data, facts.enterpriseCode);
          if (match === undefined) {
            const doubt = "the answer's rows cannot be tied to the staff that were sent";
            return { doubt, met: metBySuffixes(sent, outcome.data.succeeded, formatKey(operation.customer)) };
          }
          const taken = takenIds(owners, match.added);
          if (taken !== undefined) return { contradiction: taken };
          return { ...staffAdded(operation.customer, context, match), refused: match.refused };
        },
      };
    },
  };
}

/** Two endings in one answer of M1 contradict A29. */
function metBySuffixes(
  sent: readonly { userName: string }[],
  shown: readonly { userName: string }[],
  about: string,
): AssumptionMet[] {
  const endings = shown.map((row) =>
    sent
      .filter((item) => row.userName.startsWith(item.userName))
      .map((item) => row.userName.slice(item.userName.length)),
  );
  if (endings.length < 2 || endings.some((own) => own.length === 0)) return [];
  if (endings[0]?.some((ending) => endings.every((own) => own.includes(ending))) === true) return [];
  return [{ row: "A29", about, evidence: "M1 appended two endings to names of one call" }];
}

function takenIds(
  known: Pick<Known, "staffLinks" | "protectedMembers">,
  added: StaffMatch["added"],
): string | undefined {
  const owners = new Map([...known.staffLinks.values()].map((link) => [link.memberGlobalId, formatKey(link.key)]));
  const seen = new Set<string>();
  for (const { key, globalId } of added) {
    const owner = owners.get(globalId);
    if (owner !== undefined && owner !== formatKey(key)) {
      return (
        `M1 answered for ${formatKey(key)} with the globalId ${globalId}, which is linked to ${owner}; ` +
        "nobody was linked"
      );
    }
    if (known.protectedMembers.has(globalId)) {
      return (
        `M1 answered for ${formatKey(key)} with the globalId ${globalId} of an account that was made ` +
        "together with the enterprise; nobody was linked"
      );
    }
    if (seen.has(globalId)) return `M1 answered with the globalId ${globalId} for two people; nobody was linked`;
    seen.add(globalId);
  }
  return undefined;
}

function keyOf(operation: Draft<AddShapes>, index: number): RecordKey {
  const record = operation.records[index];
  if (record === undefined) throw new Error(`operation on ${operation.subject} names no record ${index}`);
  return { namespace: record.namespace, id: record.id };
}

function sealedPassword(operation: Draft<AddShapes>, index: number): { ref: string; version: number } | undefined {
  const password = operation.payload.userList[index]?.password;
  return isPrivateMarker(password) ? { ref: password.$private, version: password.version } : undefined;
}

function staffAdded(customer: RecordKey, context: AddContext, match: StaffMatch): Effect {
  const people = new Map(context.staff.map((person) => [formatKey(person.key), person]));
  const changes: StateChange[] = match.added.flatMap((added) => {
    const person = people.get(formatKey(added.key));
    if (person === undefined) return [];
    return [
      {
        type: "staff-linked" as const,
        staff: added.key,
        customer,
        enterpriseGlobalId: context.enterpriseGlobalId,
        memberGlobalId: added.globalId,
        origin: "created" as const,
        profile: person.particulars,
      },
      ...(person.password === undefined ? [] : [{ type: "secrets-wiped" as const, ...person.password }]),
    ];
  });
  if (match.code !== undefined)
    changes.push({ type: "enterprise-code", enterpriseGlobalId: context.enterpriseGlobalId, code: match.code });
  return {
    changes,
    audit: {
      added: match.added.map((added) => ({ staff: formatKey(added.key), memberGlobalId: added.globalId })),
      refused: match.refused.map((refused) => formatKey(refused.key)),
    },
  };
}

interface SentPerson {
  key: RecordKey;
  userName: string;
  name: string;
}

/** `rows`: new members of M5 that may be this person. */
interface Hit {
  person: SentPerson;
  rows: ObservedMember[];
}

/** Matches new members in M5 by name, and by account name plus one common suffix (A29). */
async function observe(entry: JournalEntry<AddShapes>, snapshot: Snapshot, facts: SettleFacts): Promise<Evidence> {
  const { context } = entry;
  const people = clearNames(facts, entry);
  if (people === undefined) {
    const reason = "the names of the staff were erased, so they cannot be looked for";
    return { kind: "ambiguous", reason, detail: {} };
  }
  const known = facts.known();
  const linked = [...known.staffLinks.values()].map((link) => link.memberGlobalId);
  const before = new Set([...context.shownBefore, ...linked, ...known.protectedMembers]);
  const rows = (await snapshot.members(context.enterpriseGlobalId)).filter(
    (member) => !member.deleted && !before.has(member.globalId),
  );
  const hits = people.map((person): Hit => {
    const isTheirs = ({ name, userName }: ObservedMember): boolean =>
      name === person.name && userName.startsWith(person.userName);
    return { person, rows: rows.filter(isTheirs) };
  });
  const suffixes = suffixesOf(hits, facts.settings.enterpriseCodeMaxLength);
  const code = known.enterpriseCode ?? (suffixes.size === 1 ? [...suffixes][0] : undefined);
  const added = hits.flatMap(({ person, rows: found }) =>
    found
      .filter((member) => code !== undefined && member.userName === person.userName + code)
      .map((member) => ({ key: person.key, globalId: member.globalId })),
  );
  const detail = { call: "M5", shown: added.map((item) => item.globalId), wanted: people.length };
  const isGuessed = known.enterpriseCode === undefined;
  const reason = whyAmbiguous(hits, added, suffixes, isGuessed) ?? strangerAmong(hits, added, code);
  if (reason !== undefined) return { kind: "ambiguous", reason, detail };
  const effect = staffAdded(entry.operation.customer, context, { added, refused: [], code });
  if (added.length === people.length) return { kind: "confirmed", effect, detail };
  return { kind: "not-found", detail, partEffect: added.length === 0 ? undefined : effect };
}

function suffixesOf(hits: readonly Hit[], maxLength: number): ReadonlySet<string> {
  const all = hits.flatMap(({ person, rows }) => rows.map(({ userName }) => userName.slice(person.userName.length)));
  return new Set(all.filter((suffix) => suffix.length <= maxLength));
}

/** `isGuessed`: the enterprise code is not known. */
function whyAmbiguous(
  hits: readonly Hit[],
  added: StaffMatch["added"],
  suffixes: ReadonlySet<string>,
  isGuessed: boolean,
): string | undefined {
  if (new Set(added.map((item) => formatKey(item.key))).size !== added.length)
    return "the platform shows a new staff member twice";
  if (added.length === 0 && suffixes.size > 1) return "new staff members fit the names, but with different suffixes";
  if (isGuessed && added.length > 0 && added.length < hits.length)
    return "only some of the staff are shown, and the enterprise code is not known yet, so they may be other people";
  return undefined;
}

/** If somebody is missing and a new account could be theirs, nothing is certain. */
function strangerAmong(hits: readonly Hit[], added: StaffMatch["added"], code: string | undefined): string | undefined {
  const found = new Set(added.map(({ globalId }) => globalId));
  const people = new Set(added.map(({ key }) => formatKey(key)));
  const accounts = new Set(hits.map(({ person }) => person.userName + (code ?? "")));
  const isStrange = ({ globalId, userName }: ObservedMember): boolean =>
    !found.has(globalId) && !accounts.has(userName);
  if (!hits.some(({ person, rows }) => !people.has(formatKey(person.key)) && rows.some(isStrange))) return undefined;
  return (
    "M5 shows a new account with a name that was sent and another ending than the enterprise code " +
    "(A29), so it may be one of these people; look on the platform whose it is, then settle it"
  );
}

function clearNames(facts: SettleFacts, { operation, context }: JournalEntry<AddShapes>): SentPerson[] | undefined {
  const people: SentPerson[] = [];
  for (const [index, item] of operation.payload.userList.entries()) {
    const key = context.staff[index]?.key;
    const userName = facts.privateValue(item.userName);
    const name = facts.privateValue(item.name);
    if (key === undefined || typeof userName !== "string" || typeof name !== "string") return undefined;
    people.push({ key, userName, name });
  }
  return people;
}
