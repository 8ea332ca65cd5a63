import type { Stream } from "../../crm/model.ts";

/**
 * What CRMs and exports call the fields of a record, without case, blanks and signs; the likeliest first. A name that
 * only begins or ends with one of them is a doubt.
 */
type Names = Readonly<Record<string, readonly string[]>>;

const customer: Names = {
  id: [
    "customerid",
    "customernumber",
    "customerno",
    "accountid",
    "accountnumber",
    "companyid",
    "partnerid",
    "clientid",
    "kundennummer",
    "kundennr",
    "id",
    "number",
    "code",
    "key",
  ],
  name: ["companyname", "customername", "accountname", "displayname", "company", "name", "firma", "title"],
  address: ["fulladdress", "address", "postaladdress", "anschrift"],
  street: ["street", "addressline1", "address1", "strasse", "straße", "billingstreet", "address"],
  postalCode: ["postalcode", "postcode", "zip", "zipcode", "plz", "billingpostalcode"],
  city: ["city", "town", "ort", "stadt", "billingcity"],
  country: ["country", "countrycode", "land", "billingcountry"],
  adminName: ["contactname", "contact", "contactperson", "adminname", "ansprechpartner"],
  adminAccount: ["adminaccount", "adminlogin"],
  adminEmail: ["adminemail", "contactemail", "email", "emailaddress", "mail"],
  adminMobile: ["adminmobile", "contactmobile", "mobile", "mobilephone", "cellphone", "phone", "telephone", "tel"],
  branchCode: ["branchcode", "branch", "officecode", "regioncode"],
  branchName: ["branchname", "officename", "branch"],
  customerType: ["customertype", "accounttype", "type"],
};

const order: Names = {
  id: ["orderid", "ordernumber", "orderno", "salesorderid", "contractid", "auftragsnummer", "id", "number", "name"],
  customerId: [
    "customerid",
    "customernumber",
    "customerno",
    "accountid",
    "companyid",
    "partnerid",
    "clientid",
    "kundennummer",
    "kundennr",
    "customer",
    "account",
  ],
  placedAt: ["orderdate", "placedat", "placedon", "datecreated", "createdat", "createdate", "bestelldatum", "date"],
  cancelled: ["cancelled", "canceled", "iscancelled", "status", "state", "orderstatus"],
  amount: ["totalamount", "grandtotal", "amounttotal", "total", "amount", "betrag"],
  currency: ["currency", "currencycode", "currencyisocode", "waehrung", "währung"],
};

const line: Names = {
  id: ["lineid", "orderlineid", "itemid", "linenumber", "lineno", "position", "id"],
  product: [
    "productid",
    "productcode",
    "productnumber",
    "sku",
    "articlenumber",
    "itemcode",
    "product",
    "artikelnummer",
  ],
  name: ["productname", "itemname", "description", "articlename", "name", "bezeichnung"],
  quantity: ["quantity", "qty", "seats", "nodes", "licences", "licenses", "menge", "anzahl"],
};

const staff: Names = {
  id: ["employeeid", "staffid", "personid", "userid", "employeenumber", "contactid", "personalnummer", "id", "number"],
  customerId: [
    "customerid",
    "customernumber",
    "accountid",
    "companyid",
    "partnerid",
    "clientid",
    "kundennummer",
    "customer",
    "company",
    "account",
  ],
  userName: ["username", "login", "account", "loginname", "userprincipalname", "benutzername"],
  name: ["fullname", "displayname", "name"],
  firstName: ["firstname", "givenname", "vorname"],
  lastName: ["lastname", "surname", "familyname", "nachname"],
  mobile: ["mobile", "mobilephone", "cellphone", "phone", "telephone"],
  email: ["email", "emailaddress", "mail", "workemail"],
  remark: ["remark", "note", "notes", "comment"],
  departmentId: ["departmentid"],
};

/** Names of the fields of each list, and what the name of such a list has in it. */
export const listNames = {
  customers: { fields: customer, called: ["customer", "account", "compan", "client", "partner", "kunde", "firm"] },
  orders: {
    fields: order,
    called: ["order", "sale", "contract", "invoice", "subscription", "deal", "auftr", "bestell"],
  },
  staff: {
    fields: staff,
    called: ["staff", "employee", "user", "person", "people", "member", "contact", "mitarbeiter"],
  },
  lines: { fields: line, called: ["line", "detail", "item", "position"] },
} as const satisfies Record<Stream | "lines", { fields: Names; called: readonly string[] }>;

export type ListKind = keyof typeof listNames;
