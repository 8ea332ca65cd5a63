import { Problem } from "../base/errors.ts";

type Digit = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
export type EndpointId = `E${Digit}` | `M${Digit | 10}`;

export type ServiceName = "order-service" | "member-center";

export function serviceNameOf(endpoint: string): "order service" | "member-center" {
  return endpoint.startsWith("E") ? "order service" : "member-center";
}

export const basePaths: Record<ServiceName, string> = {
  "order-service": "/order/api/order/v1",
  "member-center": "/me/api/v1",
};

export const scopes: Record<ServiceName, string> = { "order-service": "auth_order", "member-center": "auth_me" };

type HeaderName = "Authorization" | "clientToken" | "userToken" | "Content-Type";

export interface PathTarget {
  enterpriseGlobalId?: string | undefined;
  memberGlobalId?: string | undefined;
  assetId?: string | undefined;
}

export interface Endpoint {
  id: EndpointId;
  title: string;
  service: ServiceName;
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  writes: boolean;
  /** The same value sent twice has the effect of one (E4, E6, E7, M2; A3). */
  setsState: boolean;
  hasBody: boolean;
  /** All required ones. The order service wants Content-Type even without a body. */
  headers: readonly HeaderName[];
  query: readonly string[];
  codes: readonly string[];
}

const words = (text: string): string[] => text.split(" ");
const orderHeaders = ["Authorization", "Content-Type"] as const;
const memberHeaders = ["Authorization", "clientToken", "userToken"] as const;
const memberBodyHeaders = [...memberHeaders, "Content-Type"] as const;
const orderCodes = ["13004", "500"] as const;
const memberCodes = ["60000", "60005", "70001", "500"] as const;
const userCenterCodes = [...memberCodes, "80001"] as const;

type Row<Writes> = Omit<Endpoint, "service" | "headers" | "query" | "setsState" | "writes"> & {
  writes: Writes;
  setsState?: true;
  query?: readonly string[];
};
type Told<Writes> = Endpoint & { writes: Writes };

function orderEndpoint<Writes extends boolean>(row: Omit<Row<Writes>, "codes">): Told<Writes> {
  return { query: [], setsState: false, ...row, service: "order-service", headers: orderHeaders, codes: orderCodes };
}

function memberEndpoint<Writes extends boolean>(row: Row<Writes>): Told<Writes> {
  const headers = row.hasBody ? memberBodyHeaders : memberHeaders;
  return { query: [], setsState: false, ...row, service: "member-center", headers };
}

const read = { method: "GET", writes: false, hasBody: false } as const;
const post = { method: "POST", writes: true, hasBody: true } as const;
const remove = { method: "DELETE", writes: true, hasBody: false } as const;
const put = { method: "PUT", writes: true, hasBody: true } as const;

const member = "/enterprise/{enterpriseGlobalId}/member";

const table = {
  E1: orderEndpoint({ id: "E1", title: "bind a customer to an enterprise", ...post, path: "/enterprise/user/bind" }),
  E2: orderEndpoint({ id: "E2", title: "create an enterprise", ...post, path: "/enterprise/user/create" }),
  E3: orderEndpoint({
    id: "E3",
    title: "find enterprises of a customer",
    ...read,
    path: "/enterprise/user/query",
    query: ["channelCode", "channelCustomerId", "defaultCustomer"],
  }),
  E4: orderEndpoint({
    id: "E4",
    title: "update an enterprise",
    ...post,
    path: "/enterprise/user/update",
    setsState: true,
  }),
  E5: orderEndpoint({
    id: "E5",
    title: "place licence orders",
    ...post,
    path: "/licenseOrder/batchOrder",
    query: ["appKey"],
  }),
  E6: orderEndpoint({ id: "E6", title: "disable locks", ...post, path: "/asset/lock", setsState: true }),
  E7: orderEndpoint({ id: "E7", title: "enable locks", ...post, path: "/asset/unlock", setsState: true }),
  E8: orderEndpoint({ id: "E8", title: "list virtual assets", ...read, path: "/asset/{enterpriseGlobalId}/list" }),
  E9: orderEndpoint({ id: "E9", title: "take asset numbers", ...post, path: "/shellnums" }),
  M1: memberEndpoint({
    id: "M1",
    title: "add staff",
    ...post,
    path: member,
    codes: [
      ...userCenterCodes,
      ...words("40000 40021 60013 40008 40001 40009 40022 50003"),
      ...words("30002 30003 10003 10004 40006 60009 60027"),
    ],
  }),
  M2: memberEndpoint({
    id: "M2",
    title: "edit a staff member",
    ...put,
    path: `${member}/{memberGlobalId}`,
    setsState: true,
    codes: [...userCenterCodes, "40000", "60002", "30002", "30003"],
  }),
  M3: memberEndpoint({
    id: "M3",
    title: "reset a password",
    ...put,
    path: `${member}/{memberGlobalId}/resetPassword`,
    codes: [...userCenterCodes, "40000", "60002", "40001", "50003"],
  }),
  M4: memberEndpoint({
    id: "M4",
    title: "delete a staff member",
    ...remove,
    path: `${member}/{memberGlobalId}`,
    codes: [...userCenterCodes, "60002"],
  }),
  M5: memberEndpoint({
    id: "M5",
    title: "list staff",
    ...read,
    path: "/enterprise/{enterpriseGlobalId}/members",
    query: ["pageNum", "pageSize"],
    codes: [...userCenterCodes, "40000"],
  }),
  M6: memberEndpoint({
    id: "M6",
    title: "list asset numbers",
    ...read,
    path: "/enterprise/{enterpriseGlobalId}/asset/assetNums",
    codes: [...memberCodes, "60017"],
  }),
  M7: memberEndpoint({
    id: "M7",
    title: "list what belongs to an asset",
    ...read,
    path: "/enterprise/asset/{assetId}/merchandiseProducts",
    codes: [...memberCodes, "60017", "60024"],
  }),
  M8: memberEndpoint({
    id: "M8",
    title: "list borrowed locks",
    ...read,
    path: "/enterprise/{enterpriseGlobalId}/asset/borrowUsbKeys",
    codes: [...memberCodes, "60017"],
  }),
  M9: memberEndpoint({
    id: "M9",
    title: "assign and revoke asset numbers",
    ...post,
    path: "/enterprise/member/{memberGlobalId}/privileges",
    codes: [...memberCodes, "60023", "60024", "60025", "60026", "60028"],
  }),
  M10: memberEndpoint({
    id: "M10",
    title: "borrow assets into a lock",
    ...post,
    path: "/enterprise/member/{memberGlobalId}/borrow",
    codes: [...memberCodes, ...words("40000 60026 33006 33003 33007 33008 33018 33009")],
  }),
} satisfies Record<EndpointId, Endpoint>;

export const endpoints: Record<EndpointId, Endpoint> = table;
export const endpointIds: readonly EndpointId[] = Object.values(endpoints).map(({ id }) => id);

export type WritingEndpoint = {
  [Id in EndpointId]: (typeof table)[Id] extends Told<true> ? Id : never;
}[EndpointId];

/** Percent-encodes the ids. Throws a Problem for an id that is missing or would change the path. */
export function endpointPath(id: EndpointId, target: PathTarget): string {
  const { path } = endpoints[id];
  if (!path.includes("{")) return path;
  return path.replaceAll(/\{(enterpriseGlobalId|memberGlobalId|assetId)\}/g, (_, name: keyof PathTarget) => {
    const value = target[name];
    if (value === undefined || value === "" || value === "." || value === "..") {
      throw new Problem({
        code: "service.unusable-id",
        message:
          `${id} was not sent: it needs the id ${name}, ` +
          (value === undefined ? "which is not known" : "and the known id cannot be used in an address"),
        cure: "nothing: the next run looks the id up again. If the problem stays, ask the provider of the service",
      });
    }
    return encodeURIComponent(value);
  });
}
