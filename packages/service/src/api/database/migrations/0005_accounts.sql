CREATE TABLE "accounts" (
	"user_id" text PRIMARY KEY NOT NULL,
	"text" text NOT NULL,
	"stored" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "key_statements" (
	"user_id" text NOT NULL,
	"number" bigint NOT NULL,
	"key_id" text NOT NULL,
	"slot_id" text NOT NULL,
	"statement" text NOT NULL,
	"possession" text NOT NULL,
	"submitted" bigint NOT NULL,
	"objected" bigint,
	"objection" text,
	"approved" bigint,
	"taken" bigint,
	"settled" bigint,
	CONSTRAINT "key_statements_user_id_number_key_id_pk" PRIMARY KEY("user_id","number","key_id")
);
--> statement-breakpoint
ALTER TABLE "public_keys" DROP CONSTRAINT "public_keys_user_id_users_user_id_fk";
--> statement-breakpoint
ALTER TABLE "public_keys" ADD COLUMN "account" text;--> statement-breakpoint
ALTER TABLE "public_keys" ADD COLUMN "number" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "key_statements" ADD CONSTRAINT "key_statements_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "open_key_statement" ON "key_statements" USING btree ("user_id") WHERE ("key_statements"."objected" is null and "key_statements"."taken" is null and "key_statements"."settled" is null);--> statement-breakpoint
CREATE INDEX "key_statements_by_slot" ON "key_statements" USING btree ("slot_id");--> statement-breakpoint
ALTER TABLE "public_keys" ADD CONSTRAINT "public_keys_account_users_user_id_fk" FOREIGN KEY ("account") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "public_keys_of_account" ON "public_keys" USING btree ("account") WHERE "public_keys"."account" is not null;