// Vendure as its own starter sets it up: one server, one worker with the job queue in PostgreSQL. It sends no mail.
//   node server.mjs populate   create the tables and one product, print the ids
//   node server.mjs server     serve the shop API on PORT
//   node server.mjs worker     run the jobs
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import core from '@vendure/core';
import cli from '@vendure/core/cli/index.js';

const database = new URL(process.env.DATABASE_URL);
const config = {
    apiOptions: { hostname: '127.0.0.1', port: Number(process.env.PORT), cors: false },
    authOptions: {
        tokenMethod: 'bearer',
        requireVerification: false,
        superadminCredentials: { identifier: 'bench', password: process.env.PEER_PASSWORD },
    },
    dbConnectionOptions: { type: 'postgres', url: database.href, synchronize: process.argv[2] === 'populate' },
    paymentOptions: { paymentMethodHandlers: [core.dummyPaymentHandler] },
    logger: new core.DefaultLogger({ level: core.LogLevel.Warn }),
    plugins: [
        core.DefaultJobQueuePlugin.init({}),
        core.DefaultSchedulerPlugin.init({}),
        core.DefaultSearchPlugin.init({}),
    ],
};
const shop = {
    defaultLanguage: core.LanguageCode.en,
    defaultZone: 'Africa',
    countries: [{ name: 'Nigeria', code: 'NG', zone: 'Africa' }],
    taxRates: [{ name: 'Standard Tax', percentage: 0 }],
    shippingMethods: [{ name: 'Campus hub', price: 50000 }],
    paymentMethods: [{
        name: 'Card',
        handler: { code: core.dummyPaymentHandler.code, arguments: [{ name: 'automaticSettle', value: 'true' }] },
    }],
    collections: [],
};
const PRODUCT = `name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets
Jollof Rice,jollof-rice,One plate,,,,,JOLLOF,2500.00,Standard Tax,1000000,true,,
`;

switch (process.argv[2]) {
    case 'populate': {
        const file = join(process.env.STATE_DIR, 'products.csv');
        writeFileSync(file, PRODUCT);
        const app = await cli.populate(() => core.bootstrap(config), shop, file);
        await app.close();
        process.exit(0);
        break;
    }
    case 'server':
        await core.bootstrap(config);
        break;
    case 'worker':
        await (await core.bootstrapWorker(config)).startJobQueue();
        break;
    default:
        console.error('Give one of populate, server, worker.');
        process.exit(2);
}
