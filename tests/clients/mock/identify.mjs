// Made-up identifiers in the shape of the real ones.
import crypto from 'node:crypto';

export const randomId = (prefix) => prefix + crypto.randomBytes(12).toString('hex');
export const nowSeconds = () => Math.floor(Date.now() / 1000);
