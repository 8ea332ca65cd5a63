import { counted, explainCommand } from "../../report/text.ts";
import type { JsonObject } from "../../base/canonical-json.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { type StateChange, type Known, isSameKey, type RequestChange } from "../../engine/model/state.ts";
import type { PlatformCustomer } from "../../platform/snapshot.ts";
import type { LedgerContext } from "../context.ts";
import { JournalTables } from "../journal/journal-tables.ts";
import { type ChangeTables, countOf, type StateRows } from "./registry.ts";
import { saidLinks } from "./said-links.ts";
import {
  standing,
  subjectOf,
  nameOf,
  requestKindOf,
  type ManualRequest,
  type NewRequest,
  type RequestName,
} from "../../engine/model/requests.ts";
import { requestCodes, type WorkTables } from "../records/work.ts";
import type { Operation } from "../../engine/model/operation.ts";

interface Whose {
  by: string;
  reason: string;
}

export interface ShownLink {
  enterpriseGlobalId: string;
  channelCode: string;
  channelCustomerId: string;
  customers: readonly PlatformCustomer[];
}

export interface Standing {
  orders: number;
  assignments: number;
}

class Desk {
  protected readonly context: LedgerContext;
  protected readonly rows: StateRows;
  protected readonly changes: ChangeTables;
  protected readonly work: WorkTables;
  protected readonly journal: JournalTables;

  constructor(
    context: LedgerContext,
    { rows, changes, work }: { rows: StateRows; changes: ChangeTables; work: WorkTables },
  ) {
    this.context = context;
    this.rows = rows;
    this.changes = changes;
    this.work = work;
    this.journal = new JournalTables(context.database);
  }
}

export class LinksDesk extends Desk {
  /** Throws a Problem if this link is impossible. Returns the current link. */
  async requireLinkable(customer: RecordKey, shown: ShownLink): Promise<Known["link"]> {
    return this.context.readTogether(() => this.#requireLinkable(customer, shown));
  }

  /** Rechecks in its transaction. Values acknowledged for another enterprise no longer count. Returns the old link. */
  async link(customer: RecordKey, shown: ShownLink, whose: Whose): Promise<Known["link"]> {
    return await this.context.write(() => {
      const before = this.#requireLinkable(customer, shown);
      const { enterpriseGlobalId, channelCode, channelCustomerId } = shown;
      const isBound = this.rows.resources.enterprise.links.lastOrigin(customer, enterpriseGlobalId) === "bound";
      const origin = before?.origin ?? (isBound ? "bound" : "adopted");
      const link = { enterpriseGlobalId, channelCode, channelCustomerId, origin, examined: before?.examined ?? false };
      const anew: StateChange[] = before === undefined ? [{ type: "acknowledged-ended", customer }] : [];
      this.#write(customer, "linked-by-hand", whose, { enterpriseGlobalId, channelCode, channelCustomerId }, [
        { type: "linked", customer, link },
        { type: "platform-customers", enterpriseGlobalId, customers: [...shown.customers] },
        ...anew,
      ]);
      return before;
    });
  }

  #requireLinkable(customer: RecordKey, shown: ShownLink): Known["link"] {
    const { enterpriseGlobalId, channelCode, channelCustomerId } = shown;
    const name = formatKey(customer);
    this.#requireNothingOpen(customer, "link");
    const { link } = this.rows.resources.enterprise.links.known(customer);
    const owner = this.rows.resources.enterprise.links.customerOfEnterprise(enterpriseGlobalId);
    if (owner !== undefined && !isSameKey(owner, customer)) {
      throw refused(
        "link.taken",
        `the enterprise ${enterpriseGlobalId} is already linked to ${formatKey(owner)}. Nothing was linked`,
        `correct the enterprise id. If ${formatKey(owner)} has the wrong enterprise, first run \`crm-sync unlink ` +
          `${formatKey(owner)} --reason TEXT\``,
      );
    }
    if (link !== undefined && link.enterpriseGlobalId !== enterpriseGlobalId) {
      throw refused(
        "link.linked-otherwise",
        `${name} is already linked with another enterprise, ${link.enterpriseGlobalId}. Nothing was changed`,
        `remove that link first: \`crm-sync unlink ${name} --reason TEXT\`. Then link the customer again`,
      );
    }
    if (link?.channelCode === channelCode && link.channelCustomerId === channelCustomerId) {
      throw refused(
        "link.same",
        `${name} is already linked with the enterprise ${enterpriseGlobalId} under the channel customer number ` +
          channelCustomerId,
        "nothing needs to be done",
      );
    }
    return link;
  }

  /** Nothing is sent until a person links. Throws for open operations, or orders or assignments and no `keepOrders`. */
  async unlink(
    customer: RecordKey,
    whose: Whose & { keepOrders: boolean },
  ): Promise<Standing & { enterpriseGlobalId: string }> {
    return await this.context.write(() => {
      const { link } = this.rows.resources.enterprise.links.known(customer);
      const name = formatKey(customer);
      if (link === undefined)
        throw refused("unlink.not-linked", `${name} is not linked with an enterprise`, "nothing needs to be done");
      this.#requireNothingOpen(customer, "unlink");
      const standing = this.#standingOf(customer);
      const { orders, assignments } = standing;
      const { enterpriseGlobalId } = link;
      if (orders + assignments > 0 && !whose.keepOrders) {
        throw refused(
          "unlink.standing",
          `the ledger has ${counted(orders, "order")} and ${counted(assignments, "assignment")} of ${name} in the ` +
            `enterprise ${enterpriseGlobalId}, and crm-sync would no longer look after them. Nothing was changed`,
          "add --keep-orders, which keeps them on the platform and in the ledger; or first end them in the CRM",
        );
      }
      const { by, reason } = whose;
      this.#write(customer, "unlinked-by-hand", whose, { enterpriseGlobalId, orders, assignments }, [
        { type: "unlinked", customer, enterpriseGlobalId, by, reason },
      ]);
      return { ...standing, enterpriseGlobalId };
    });
  }

  #standingOf(customer: RecordKey): Standing {
    return {
      orders: this.rows.resources.order.placed.known(customer).size,
      assignments: countOf(this.rows, "seats", customer),
    };
  }

  #requireNothingOpen(customer: RecordKey, what: "link" | "unlink"): void {
    const [open] = this.journal.openOf(customer);
    if (open === undefined) return;
    throw refused(
      `${what}.open-operation`,
      `the outcome of ${open.operation.endpoint} on ${open.operation.subject} (${open.id}) is open`,
      "the next run settles it, or a person where it waits for one: `crm-sync settle list`",
    );
  }

  /** Marks all records of the customer for the next run. */
  #write(customer: RecordKey, kind: string, { by, reason }: Whose, body: JsonObject, changes: StateChange[]): void {
    const at = this.context.now;
    for (const change of changes) this.changes.apply(change, at);
    const subject = `customer:${formatKey(customer)}`;
    const said = { customer: formatKey(customer), ...body, ...saidLinks(changes), by, reason };
    this.context.audit.append({ at, kind, subject, body: said });
    this.work.markPending({ customer });
  }
}

function refused(code: string, message: string, cure: string): Problem {
  return new Problem({ code, message, cure, exitCode: exitCodes.usage });
}

export class RequestsDesk extends Desk {
  /** Throws if another customer has an open request for the same. The next run decides other reasons to wait. */
  async ask(customer: RecordKey, requests: readonly NewRequest[], whose: Whose): Promise<void> {
    await this.context.write(() => {
      const at = this.context.now;
      this.#requireFree(customer, requests);
      for (const request of requests) this.changes.apply({ type: "request-made", customer, request }, at);
      this.#appendRequests("request-made", customer, requests, whose);
      if (this.work.waitsOtherwise(customer, requestCodes)) this.work.lookAgain(customer);
    });
  }

  /** Read it again when needed: people make and withdraw requests during a run. */
  async of(customer: RecordKey): Promise<ManualRequest[]> {
    return this.context.read(() => this.rows.requests.of(customer));
  }

  /** Subjects of other customers that ever had the same request. */
  async subjectsElsewhere(
    customer: RecordKey,
    requests: readonly Pick<RequestName, "of" | "about">[],
  ): Promise<string[]> {
    return this.context.read(() => {
      const subjects = requests.flatMap((request) =>
        this.rows.requests.elsewhere(customer, request).map((other) => subjectOf(other, request)),
      );
      return [...new Set(subjects)];
    });
  }

  async requireFree(customer: RecordKey, requests: readonly RequestName[]): Promise<void> {
    this.context.readTogether(() => this.#requireFree(customer, requests));
  }

  #requireFree(customer: RecordKey, requests: readonly RequestName[]): void {
    for (const request of requests) requireFree(customer, request, this.rows.requests.standing(request));
  }

  /** Throws if a call may have been sent or the request is done. The next run decides other reasons to wait. */
  async withdraw(customer: RecordKey, names: readonly RequestName[], whose: Whose): Promise<void> {
    await this.context.write(() => {
      const at = this.context.now;
      const open = this.journal.openOf(customer);
      for (const change of withdrawals(customer, names, { asked: this.rows.requests.of(customer), open }))
        this.changes.apply(change, at);
      this.#appendRequests("request-withdrawn", customer, names, whose);
      const left = this.rows.requests.of(customer);
      if (left.every((request) => request.answer === null || standing(request) === "done"))
        this.work.endDeferral(customer, requestCodes);
      this.work.lookAgain(customer);
    });
  }

  #appendRequests(
    kind: "request-made" | "request-withdrawn",
    customer: RecordKey,
    requests: readonly RequestName[],
    { by, reason }: Whose,
  ): void {
    for (const subject of new Set(requests.map((request) => subjectOf(customer, request)))) {
      const own = requests.filter((request) => subjectOf(customer, request) === subject);
      this.context.audit.append({
        at: this.context.now,
        kind,
        subject,
        body: {
          customer: formatKey(customer),
          requests: own.map(({ of, about, wanted }) => ({ of, about, wanted })),
          by,
          reason,
        },
      });
    }
  }
}

type OpenOne = { id: string; operation: Pick<Operation, "endpoint" | "subject"> };

/** Throws a Problem if a call may have been sent, or if it is done: then a person must request the opposite. */
export function withdrawals(
  customer: RecordKey,
  names: readonly RequestName[],
  { asked, open }: { asked: readonly ManualRequest[]; open: readonly OpenOne[] },
): RequestChange[] {
  return names.map((name) => {
    const { of, about, wanted } = name;
    const subject = subjectOf(customer, name);
    const inDoubt = open.find(({ operation }) => operation.subject === subject);
    if (inDoubt !== undefined) {
      throw refused(
        "request.in-doubt",
        `the outcome of ${inDoubt.operation.endpoint} on ${subject} (${inDoubt.id}) is not known yet. Nothing was ` +
          "withdrawn",
        "run the job, which finds the outcome. If it needs a person: `crm-sync settle list`",
      );
    }
    const request = asked.find((item) => item.of === of && item.about === about && item.wanted === wanted);
    if (request === undefined || standing(request) === "done") {
      throw refused(
        "request.nothing-to-withdraw",
        `there is no open request for the ${nameOf(name)}. Nothing was changed`,
        `\`${explainCommand("customers", customer)}\` shows its state; to undo a request that is done, request ` +
          "the opposite",
      );
    }
    return { type: "request-withdrawn", customer, of, about };
  });
}

/** Throws a Problem if another customer has an open request, as after an order moved: its call would undo this one. */
export function requireFree(
  customer: RecordKey,
  name: RequestName,
  earlier: { customer: RecordKey; request: ManualRequest } | undefined,
): void {
  if (earlier === undefined || isSameKey(earlier.customer, customer) || standing(earlier.request) === "done") return;
  const { request } = earlier;
  const whose = formatKey(earlier.customer);
  throw refused(
    "request.of-another-customer",
    `${whose} already has an open request for the ${nameOf(name)}. No new request was made`,
    "wait until that request is done, or withdraw it with `crm-sync " +
      `${requestKindOf(request).commands[request.wanted]} ${whose} … --withdraw\``,
  );
}
