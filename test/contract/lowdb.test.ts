import { openInTemporaryFolder } from './openInTemporaryFolder.ts';
import { storeContract } from './storeContract.ts';

storeContract('lowdb', () => openInTemporaryFolder());
