interface ImportMetaEnv {
  /** The public address of the API, without a slash at its end. */
  readonly VITE_API_URL?: string;
}
