import { counted } from "../../report/text.ts";
import type { JsonObject } from "../../base/canonical-json.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { type StateChange, type Known, isSameKey } from "../../engine/model/state.ts";
import type { PlatformCustomer } from "../../platform/snapshot.ts";
import type { LedgerContext } from "../context.ts";
import { JournalTables } from "../journal/journal-tables.ts";
import type { WorkTables } from "../records/work.ts";
import { type ChangeTables, countOf, type StateRows } from "./registry.ts";
import { saidLinks } from "./said-links.ts";

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

export class LinksDesk {
  readonly #context: LedgerContext;
  readonly #rows: StateRows;
  readonly #changes: ChangeTables;
  readonly #journal: JournalTables;
  readonly #work: WorkTables;

  constructor(context: LedgerContext, tables: { rows: StateRows; changes: ChangeTables; work: WorkTables }) {
    this.#context = context;
    this.#rows = tables.rows;
    this.#changes = tables.changes;
    this.#journal = new JournalTables(context.database);
    this.#work = tables.work;
  }

  /** Throws a Problem if this link is impossible. Returns the current link. */
  async requireLinkable(customer: RecordKey, shown: ShownLink): Promise<Known["link"]> {
    return this.#context.readTogether(() => this.#requireLinkable(customer, shown));
  }

  /**
   * Checks again in its own transaction. Values acknowledged for another enterprise no longer count. Returns the old
   * link.
   */
  async link(customer: RecordKey, shown: ShownLink, whose: Whose): Promise<Known["link"]> {
    return await this.#context.write(() => {
      const before = this.#requireLinkable(customer, shown);
      const { enterpriseGlobalId, channelCode, channelCustomerId } = shown;
      const isBound = this.#rows.resources.enterprise.links.lastOrigin(customer, enterpriseGlobalId) === "bound";
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
    const { link } = this.#rows.resources.enterprise.links.known(customer);
    const owner = this.#rows.resources.enterprise.links.customerOfEnterprise(enterpriseGlobalId);
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

  /**
   * Nothing is sent until a person links the customer again. Throws a Problem if operations are open, or if it has
   * orders or assignments without `keepOrders`.
   */
  async unlink(
    customer: RecordKey,
    whose: Whose & { keepOrders: boolean },
  ): Promise<Standing & { enterpriseGlobalId: string }> {
    return await this.#context.write(() => {
      const { link } = this.#rows.resources.enterprise.links.known(customer);
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
      orders: this.#rows.resources.order.placed.known(customer).size,
      assignments: countOf(this.#rows, "seats", customer),
    };
  }

  #requireNothingOpen(customer: RecordKey, what: "link" | "unlink"): void {
    const [open] = this.#journal.openOf(customer);
    if (open === undefined) return;
    throw refused(
      `${what}.open-operation`,
      `the outcome of ${open.operation.endpoint} on ${open.operation.subject} (${open.id}) is open`,
      "the next run settles it, or a person where it waits for one: `crm-sync settle list`",
    );
  }

  /** Marks all records of the customer for the next run. */
  #write(customer: RecordKey, kind: string, { by, reason }: Whose, body: JsonObject, changes: StateChange[]): void {
    const at = this.#context.now;
    for (const change of changes) this.#changes.apply(change, at);
    const subject = `customer:${formatKey(customer)}`;
    const said = { customer: formatKey(customer), ...body, ...saidLinks(changes), by, reason };
    this.#context.audit.append({ at, kind, subject, body: said });
    this.#work.markPending({ customer });
  }
}

function refused(code: string, message: string, cure: string): Problem {
  return new Problem({ code, message, cure, exitCode: exitCodes.usage });
}
