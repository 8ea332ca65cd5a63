/** The settings that nearly every installation has, as they are called in the reference. */
export const normalKeys: readonly string[] = [
  "ledger.path",
  "ledger.sealKey",
  "zone",
  "orderService.baseUrl",
  "orderService.appKey",
  "orderService.tokens.authorization",
  "memberCenter.baseUrl",
  "memberCenter.tokens.authorization",
  "memberCenter.tokens.userToken",
  "assumptions.channelCode",
  "assumptions.timeCodecs",
  "assumptions.timeUnits",
  "assumptions.productTypes",
  "assumptions.sentinels",
  "assumptions.rootParentMerchandiseNum",
  "sources.*<file>.directory",
  "sources.*<file>.streams.customers.files",
  "sources.*<file>.streams.customers.mapping",
  "alerts",
  "serve.publicUrl",
];

/** A complete configuration with these keys. */
export const normalFile = `
ledger:
  path: /var/lib/crm-sync/ledger.db       # on a local disk
  sealKey: env:CRM_SYNC_SEAL_KEY          # keep a copy elsewhere
zone: Europe/Berlin

orderService:
  baseUrl: https://orders.platform.example.com
  appKey: your-application-key
  tokens:
    authorization: env:ORDER_TOKEN        # or oauth2: { … }, or file:/path
memberCenter:
  baseUrl: https://members.platform.example.com
  tokens:
    authorization: env:MEMBER_TOKEN
    userToken: env:MEMBER_USER_TOKEN

assumptions:                              # ask whoever runs the services: crm-sync assumptions
  channelCode: CRM
  timeCodecs:
    assetLimit: epoch_ms
    productLimit: epoch_ms
    productTrialEnd: yyyymmdd
    featureTrialEnd: iso
    readLimit: epoch_ms
  timeUnits: { YEAR: year, MONTH: month, NONE: none }
  productTypes: [tool, service]
  sentinels: { productUsage: 0, productTrialEnd: null, featureTrialEnd: null }
  rootParentMerchandiseNum: ""

sources:
  crm:
    kind: file
    directory: /srv/crm-export
    streams:
      customers:
        files: customers.csv
        mapping:
          id: number
          name: company
          address: { concat: [street, zip, city], separator: ", " }
          customerType: { value: company }
          branchCode: { value: B1 }
          branchName: { value: Head office }
          adminName: contact
          adminAccount: { login: email }
          adminEmail: email
          adminMobile: { phone: mobile, country: DE }
          purchaserMobile: { phone: mobile, country: DE }
      orders:
        files: orders.csv
        mapping:
          id: number
          customerId: customer
          placedAt: { date: date, format: yyyy-MM-dd, zone: Europe/Berlin }
          instances:
            - kind: asset
              one: { id: { template: "{number}-1" }, licenseType: { value: cloud_account } }
            - kind: product
              one:
                id: { template: "{number}-2" }
                parentId: { template: "{number}-1" }
                name: product
                gmsPid: code
                nodes: quantity
                type: { value: tool }
                timeUnit: { value: YEAR }
                timeUnitQuantity: years
                term: { template: "{years}-0-0" }

alerts: { channels: [{ kind: webhook, url: https://alerts.example.com/crm-sync }] }
serve: { publicUrl: https://crm-sync.example.com, pages: false }
`;
