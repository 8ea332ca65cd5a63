/**
 * Northwind's CSV files as a source, as the configuration writes it. What Northwind does not have is a constant:
 * `customerType`, the branch, the licence type and the licence terms of products. Its orders date from 1996, so their
 * dates are no limits.
 */
export const northwindSettings = {
  kind: "file",
  tables: { products: { files: "products.csv", key: "productID", value: "productName" } },
  streams: {
    customers: {
      files: "customers.csv",
      csv: { surplusInto: "address" },
      nullTexts: ["NULL"],
      key: "customerID",
      mapping: {
        id: "customerID",
        name: "companyName",
        customerType: { value: "company" },
        branchCode: { value: "HQ" },
        branchName: { value: "Headquarters" },
        address: { concat: ["address", "postalCode", "city", "region", "country"], separator: ", " },
        adminName: "contactName",
        adminMobile: "phone",
        purchaserMobile: "phone",
      },
    },
    orders: {
      files: "orders.csv",
      csv: { surplusInto: "shipAddress" },
      nullTexts: ["NULL"],
      key: "orderID",
      details: { lines: { files: "order-details.csv", key: "orderID" } },
      mapping: {
        id: "orderID",
        customerId: "customerID",
        placedAt: { date: "orderDate", format: "yyyy-MM-dd HH:mm:ss.SSS", zone: "UTC" },
        instances: [
          { kind: "asset", one: { id: { template: "A-{orderID}" }, licenseType: { value: "cloud_customer" } } },
          {
            kind: "product",
            each: "lines",
            fields: {
              id: { template: "P-{orderID}-{productID}" },
              parentId: { template: "A-{^.orderID}" },
              name: { lookup: { table: "products", key: "productID" } },
              gmsPid: { template: "northwind-{productID}" },
              type: { value: "tool" },
              nodes: "quantity",
              timeUnit: { value: "year" },
              timeUnitQuantity: { value: 1 },
              term: { value: "1-0-0" },
            },
          },
        ],
      },
    },
  },
} as const;
