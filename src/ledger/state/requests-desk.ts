import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import {
  standing,
  subjectOf,
  nameOf,
  requestKindOf,
  type ManualRequest,
  type NewRequest,
  type RequestName,
} from "../../engine/model/requests.ts";
import type { LedgerContext } from "../context.ts";
import { JournalTables } from "../journal/journal-tables.ts";
import { requestCodes, type WorkTables } from "../records/work.ts";
import type { ChangeTables, StateRows } from "./registry.ts";
import { explainCommand } from "../../report/text.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
import type { Operation } from "../../engine/model/operation.ts";
import { type RequestChange, isSameKey } from "../../engine/model/state.ts";

interface Whose {
  by: string;
  reason: string;
}

export class RequestsDesk {
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

  /**
   * Throws a Problem if another customer has an open request for the same. The next run decides other reasons to wait.
   */
  async ask(customer: RecordKey, requests: readonly NewRequest[], whose: Whose): Promise<void> {
    await this.#context.write(() => {
      const at = this.#context.now;
      this.#requireFree(customer, requests);
      for (const request of requests) this.#changes.apply({ type: "request-made", customer, request }, at);
      this.#appendRequests("request-made", customer, requests, whose);
      if (this.#work.waitsOtherwise(customer, requestCodes)) this.#work.lookAgain(customer);
    });
  }

  /** Read it again when needed: people make and withdraw requests during a run. */
  async of(customer: RecordKey): Promise<ManualRequest[]> {
    return this.#context.read(() => this.#rows.requests.of(customer));
  }

  /** Subjects of other customers that ever had the same request. */
  async subjectsElsewhere(
    customer: RecordKey,
    requests: readonly Pick<RequestName, "of" | "about">[],
  ): Promise<string[]> {
    return this.#context.read(() => {
      const subjects = requests.flatMap((request) =>
        this.#rows.requests.elsewhere(customer, request).map((other) => subjectOf(other, request)),
      );
      return [...new Set(subjects)];
    });
  }

  async requireFree(customer: RecordKey, requests: readonly RequestName[]): Promise<void> {
    this.#context.readTogether(() => this.#requireFree(customer, requests));
  }

  #requireFree(customer: RecordKey, requests: readonly RequestName[]): void {
    for (const request of requests) requireFree(customer, request, this.#rows.requests.standing(request));
  }

  /**
   * Throws a Problem if a call may have been sent or the request is done. The next run decides other reasons to wait.
   */
  async withdraw(customer: RecordKey, names: readonly RequestName[], whose: Whose): Promise<void> {
    await this.#context.write(() => {
      const at = this.#context.now;
      const open = this.#journal.openOf(customer);
      for (const change of withdrawals(customer, names, { asked: this.#rows.requests.of(customer), open }))
        this.#changes.apply(change, at);
      this.#appendRequests("request-withdrawn", customer, names, whose);
      const left = this.#rows.requests.of(customer);
      if (left.every((request) => request.answer === null || standing(request) === "done"))
        this.#work.endDeferral(customer, requestCodes);
      this.#work.lookAgain(customer);
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
      this.#context.audit.append({
        at: this.#context.now,
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

function refused(code: string, message: string, cure: string): Problem {
  return new Problem({ code, message, cure, exitCode: exitCodes.usage });
}
