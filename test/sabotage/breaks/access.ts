import type { Breaks } from "../break.ts";

/** Who may open the pages, and what they may do there. */
export const access: Breaks = {
  "a page is shown to somebody without the right": {
    file: "src/web/access/person.ts",
    within: "may",
    find: "roles.indexOf(role) >= roles.indexOf(needed)",
    replace: "roles.indexOf(role) >= 0 || needed === role",
    test: "web/access/access.test.ts",
    title: "a reverse proxy > names two people, and each gets the pages of their own role",
  },
  "a decision is taken from a form without its token": {
    file: "src/web/access/access.ts",
    within: "access",
    find: "if (!isOwnRequest(context, deps) || !isSame(await csrfOf(context), csrf)) return foreignForm(context);",
    replace: "if (!isOwnRequest(context, deps)) return foreignForm(context);",
    test: "web/access/access.test.ts",
    title:
      "a request that changes something > is done with the token of its own person, and not with that of another, an old one, or none",
  },
  "a decision is taken from the page of another site": {
    file: "src/web/access/access.ts",
    within: "access",
    find: "if (!isOwnRequest(context, deps) || !isSame(await csrfOf(context), csrf)) return foreignForm(context);",
    replace: "if (!isSame(await csrfOf(context), csrf)) return foreignForm(context);",
    test: "web/access/access.test.ts",
    title: "a request that changes something > is not done from the page of another site, even with the token",
  },
  "a name of another site leads to the pages": {
    file: "src/web/access/host.ts",
    within: "isExpectedHost",
    find: "return !isAny &&",
    replace: "return !isAny ||",
    test: "web/access/access.test.ts",
    title:
      "the name that a request is for > is that of this server, so that no other site reads the pages under its own name",
  },
  "the header of a reverse proxy is believed from anywhere": {
    file: "src/web/access/proxy-header.ts",
    within: "saidByProxy",
    find: "if (!isListed(address, proxy.from))",
    replace: "if (named.length + grouped.length === 0)",
    test: "web/access/access.test.ts",
    title: "a reverse proxy > is believed from its own addresses alone, whatever a header says of the way",
  },
  "private values are shown to every role": {
    file: "src/web/access/access.ts",
    within: "personOf",
    find: "settings.access.private.includes(who.role)",
    replace: "settings.access.private.length > 0",
    test: "web/access/access.test.ts",
    title: "a reverse proxy > lets private values be asked for by the configured roles alone",
  },
  "a session outlives the role it was begun with": {
    file: "src/ledger/sessions/sessions.ts",
    within: "Sessions.find",
    find: "|| row.mark !== markOf(row.way, row.person)",
    replace: "",
    test: "web/access/accounts.test.ts",
    title: "a session > ends at once where the role is another one in a configuration that was taken over",
  },
  "log-ins that fail are not limited": {
    file: "src/ledger/sessions/failed-sign-ins.ts",
    within: "FailedSignIns.tryNow",
    find: "if (waitMs > 0) return { waitMs };",
    replace: "",
    test: "web/access/accounts.test.ts",
    title: "log-ins that fail > are let through five at a time however many come at the same moment",
  },
  "an ID token is believed whoever signed it": {
    file: "src/web/access/provider.ts",
    within: "claimsOf",
    find: "await oauth.validateApplicationLevelSignature(server, response, options);",
    replace: "",
    test: "web/access/provider.test.ts",
    title: "an OpenID provider > is refused with an ID token of the signature of another key, and nobody is signed in",
  },
};
