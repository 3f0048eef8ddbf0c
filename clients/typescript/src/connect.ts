import { type ClientOptions, Connection } from "./connection.js";

/** The methods of one resource. */
export abstract class Resource {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }
}

/** A client of the named resources only; a bundler leaves the others out. `Campus` has all of them. */
export function connect<Resources extends Record<string, new (connection: Connection) => Resource>>(
  options: ClientOptions,
  resources: Resources,
): Connection & { readonly [Name in keyof Resources]: InstanceType<Resources[Name]> } {
  const connection = new Connection(options);
  const made = Object.entries(resources).map(([name, Class]) => [name, new Class(connection)] as const);
  return Object.assign(connection, Object.fromEntries(made)) as ReturnType<typeof connect<Resources>>;
}
