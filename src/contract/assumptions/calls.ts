import { row } from "./row.ts";

/** What holds for the calls of both services: codes, tokens, rates, shapes. */
export const calls = row({
  id: "A1",
  kind: "assumption",
  question: "Which of HTTP 200 and 299 goes with which code",
  default:
    "Success is HTTP 200 with code 0 and fitting data; a known error code counts " +
    "in either status; anything else leaves a write unknown and fails a read",
  decidedBy: "fixed",
  settings: {},
})
  .row({
    id: "A2",
    kind: "assumption",
    question: "Codes of the order service for bad tokens, scopes and nonces",
    default:
      "None are known; HTTP 401 and the codes in tokenCodes refresh the token; an unlisted " +
      "code met for three customers within five minutes stops calls to that service",
    decidedBy: { setting: "orderService.tokenCodes, memberCenter.tokenCodes" },
    settings: {},
  })
  .row({
    id: "A3",
    kind: "assumption",
    question: 'Whether a call that met "500: network error, retry" was applied',
    default:
      "Reads are tried again; writes that set a state (E4, E6, E7, M2) are sent again " +
      "with the same value; the program settles other writes by reading; M3 waits for a person",
    decidedBy: "fixed",
    settings: {},
  })
  .row({
    id: "A4",
    kind: "choice",
    question: "Form of g_nonce",
    default: "32 hexadecimal characters, new for every attempt, never used to recognise a repetition",
    decidedBy: "fixed",
    settings: {},
  })
  .row({
    id: "A5",
    kind: "assumption",
    question: "How tokens are obtained and how long they live",
    default:
      "From the environment, a file, a command or an OAuth2 token " +
      "endpoint; one refresh for all callers, one repetition, then stop",
    decidedBy: { setting: "orderService.tokens, memberCenter.tokens" },
    settings: {},
  })
  .row({
    id: "A6",
    kind: "choice",
    question: "Whether Authorization and clientToken hold the same token",
    default: "They do",
    decidedBy: { setting: "memberCenter.tokens.clientToken" },
    settings: {},
  })
  .row({
    id: "A7",
    kind: "choice",
    question: "Whose userToken is used",
    default:
      "One for all enterprises, and others by enterprise; what " +
      "such an account cannot see (60017) is never taken for absent",
    decidedBy: { setting: "memberCenter.tokens.userTokens" },
    settings: {},
  })
  .row({
    id: "A37",
    kind: "choice",
    question: "Rates that the services bear",
    default: "2 calls at once and 5 a second for each service, less when it complains",
    decidedBy: { setting: "callsPerSecond and callsAtOnce of orderService and memberCenter" },
    settings: {},
  })
  .row({
    id: "A38",
    kind: "assumption",
    question: "Shapes that the contracts do not show",
    default: "Accepted and kept, without any logic on them; unknown fields are reported once",
    decidedBy: "fixed",
    settings: {},
  });
