// Test files about the embedded store itself, by path from the repository's root, with the reason.
// They are left out when the tests run on a database; within other files `onEmbeddedStore` marks
// what is.

export const embeddedOnly = {
  'test/contract/lowdb.test.ts': "the embedded store's run of the contract",
  'test/service/store/': "the embedded store's parts: journal, snapshots, recovery, folder lock",
  'test/service/crash/dataFolder.test.ts': 'damage to the data folder, and its lock',
  'test/service/crash/killedWriting.test.ts': 'killed at operations on its files',
  'test/service/crash/killedDelivering.test.ts': 'killed at operations on its files',
  'test/service/crash/stoppingOnTroubledDisk.test.ts': 'a stop while its disk fails',
  'test/service/app/diskFaults.test.ts': 'its disk fails',
  'test/service/app/fullDisk.test.ts': 'its disk is full',
  'test/service/channels/whatsapp/whatsappFullDisk.test.ts': 'its disk is full',
  'test/service/app/encryption/rotateEncryptionKeyKilled.test.ts':
    'killed at operations on its files and the key file',
  'test/service/app/encryption/rotateEncryptionKey.test.ts':
    'copies data folders, and reads their files and the key file',
  'test/service/platform/limits/fullMemory.test.ts': 'its memory is full',
  'test/service/platform/limits/largestWorkspace.test.ts': 'its memory is full',
  'test/service/deliveries/removalCost.test.ts': 'a cost in bytes of its journal',
};
