/** A configuration of the program that uses most of what there is. */
export const real = `ledger:
  path: ledger.db
  sealKey: env:SEAL_KEY
zone: Europe/Berlin
namespace: crm
log:
  level: info
orderService:
  baseUrl: https://orders.example.com
  appKey: "0012"
  tokens:
    authorization: env:ORDER_TOKEN
  callsAtOnce: 2
  callsPerSecond: 5
memberCenter:
  baseUrl: https://members.example.com
  tokens:
    authorization:
      oauth2:
        tokenUrl: https://login.example.com/token
        grant: client_credentials
        clientId: crm-sync
        clientSecret: env:CLIENT_SECRET
    userToken: env:USER_TOKEN
assumptions:
  channelCode: CRM
  rootParentMerchandiseNum: ""
  timeUnits: {YEAR: year, MONTH: month}
sources:
  crm:
    kind: file
    streams:
      customers:
        files: customers.csv
        format: csv
        mapping:
          id: customerID
          name: companyName
          customerType: {value: company}
          branchCode: {value: B1}
          branchName: {value: Branch}
          address: address
settle:
  maxWaitMs: 30000
  readings: 3
limits:
  removals:
    enterprise: {floor: 5, share: 0.05}
    run: {floor: 20, share: 0.01}
  sourceShrink: 0.2
  absenceReads: 3
orders:
  unseen: ask
jobs:
  staff:
    schedule: null
  night:
    kind: verify
    schedule: "30 2 * * *"
    sources: [crm]
alerts:
  channels:
    - kind: webhook
      url: https://hooks.example.com/crm
      token: env:HOOK_TOKEN
      timeoutMs: 5000
serve:
  host: 127.0.0.1
  port: 8787
retention:
  rawRecordDays: 400
concurrency:
  customers: 16
`;

export const realEnvironment = {
  SEAL_KEY: "canary-seal-0012",
  ORDER_TOKEN: "canary-order",
  CLIENT_SECRET: "canary-client",
  USER_TOKEN: "canary-user",
  HOOK_TOKEN: "canary-hook",
};
