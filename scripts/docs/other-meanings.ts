import type { Group } from "./codes-page.ts";

/** What codes mean whose text the program puts together from parts. */
export const otherMeanings: Readonly<Partial<Record<Group, Readonly<Record<string, string>>>>> = {
  commands: {
    "periods.changed": "the files or tables of a closed period are not those that the audit log names",
    "approve.not-held": "the operation does not wait for an approval, so nothing was approved",
    "clock.not-trusted": "the time of this computer cannot be trusted enough for this command",
    "folder.held": "another process works in this folder",
    "link.taken": "the enterprise is already linked to another customer",
    "login.refused": "no sign-in link was made",
    "lock.wrong-type": "the asset is not a lock that E6 and E7 can switch",
    "not-found": "there is no record, run or file of this name",
    "settle.is-there-in-part": "the platform shows a part of it, so it was neither applied nor not applied",
    "statement.row": "a row of a statement does not have the columns of its table, so no statement was made",
    usage: "the words of the command line cannot be understood",
    "web.certificate": "the certificate or key of `serve.tls` cannot be used",
  },
  configuration: {
    "config.alerts": "a key of `alerts` does not fit the others",
    "config.invalid":
      "the value of a setting is not allowed; the printed message names the setting, the value and what is expected",
    "config.job": "a key does not belong to a job of this kind",
  },
  sources: {
    "source.more-beyond": "more records follow after the total of the list",
    "source.not-believed": "the read differs too much from the last one, so it is not used",
    "source.not-json": "the answer is not JSON, or its header says something else than its rows",
    "source.not-found": "the service does not know the address of the list (HTTP 404 or 410)",
  },
  waiting: {
    "customer.not-orderable":
      "nothing can be ordered for the customer yet: the CRM does not give a field that E5 needs",
    defect: "a defect in crm-sync itself stopped this work",
    "enterprise.customers-not-shown": "E3 does not show all customers yet that the orders need",
    "enterprise.unlinked": "a person unlinked this customer from its enterprise",
    "hold.open": "a person must approve a change of this record",
    "hold.rejected": "a person rejected a change of this record",
    "ledger.unreachable": "the ledger cannot be read",
    "order.earlier-not-placed": "the order that this one continues is not placed",
    "order.contents-not-read":
      "crm-sync could not read all assets of the enterprise, so it does not know what of the order is there and sends nothing for it",
    "order.not-sendable": "crm-sync cannot send a field of the order with E5",
    "pool.empty": "the order service (E9) gave no new asset numbers",
    "request.open": "a request of a person for the customer is not done yet",
    "request.refused": "a service refused the request of a person",
    "run.stopped": "a person or the system stopped the run before it reached this record",
    "revokes.blocked": "removals wait for the reason that the message gives; everything else goes on",
    "run.failed": "the job ended before its work was done",
    "service.refused": "the service refuses all calls of this application",
    "service.unreadable": "a service did not give a list or an answer that this work needs",
    "service.unclear":
      "crm-sync sent a call that may be repeated several times, and no answer said whether the change was done",
    "source.removed":
      "the source of the record is no longer in the configuration; `crm-sync reassign` gives the record another source",
    "staff.refused": "M1 added other people and refused this one",
    unreadable: "the service answered with a code in an unknown form; the code is not shown, since it may hold a name",
    "web.cannot-listen": "the web server cannot listen on its port",
  },
  quarantine: {
    "bad-cell": "a cell of a workbook holds an error, or a value that cannot be read",
    "does-not-fit": "a value of the record does not fit its field",
    "no-such-date": "a date is before 1980 or after 2100",
    "lines-renumbered":
      "an order has a new line with the same product and terms as a line that it no longer has: perhaps the same line under another id",
    "not-an-object": "the record is not an object",
    "not-exact": "a number has more digits than can be kept exactly",
    "stored-form":
      "with the mapping of now the stored row of the record cannot be used, and its source no longer gives the record",
    "terms-disagree": "the term, the unit × quantity, and the start and end of a product do not give the same time",
    "no-value":
      "the record lacks a value that the mapping puts into the address or query of another list, so crm-sync cannot read that list for it",
    "wrong-type": "the value is not of the type of its field",
  },
  pages: { "proxy-refused": "the assertion of the reverse proxy does not hold" },
};

/** The next steps of codes whose text the program puts together from parts. */
export const otherSteps: Readonly<Record<string, string>> = {
  "clock.not-trusted": "find out whose clock is wrong: `crm-sync clock` compares this computer with the services",
  "config.alerts": "use one of the values that the message lists",
  "config.invalid": "write a value that the message allows",
  "folder.held": "wait until that process has ended",
  "login.refused":
    "set `serve.pages` and `serve.port`, and run `crm-sync login` as the user that runs `crm-sync serve`",
  "not-found": "use an id that the message lists, or the command that it names for a list",
  "settle.is-there-in-part": "compare the platform with the operation, finish or undo it there, then decide again",
  "source.half-written": "wait until the export has ended, or export the file and its marker again",
  "source.more-beyond": "correct `paging` of the source; if the list is complete, write `sure: true` there",
  "source.not-found": "correct the address of the list in the configuration of the source",
  "source.order-went-back": "request the ascending order of the key in `query` or `body`",
};
