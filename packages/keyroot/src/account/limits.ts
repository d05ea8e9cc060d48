/** Maximum size of an account file in bytes, which is enough for 16 recovery keys, 16 statements and 32 signatures. */
export const MAX_ACCOUNT_FILE_BYTES = 2 ** 15;
