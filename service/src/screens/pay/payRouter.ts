import { Router } from 'express';
import type { Deps } from '../../domain/deps.ts';

/** What a customer opens to pay: `/pay/{token}`. Public. */
export function payRouter(_deps: Deps): Router {
  return Router();
}
