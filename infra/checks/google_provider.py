"""A Terraform provider that knows the Google provider's schema and nothing else, so that validate, plan and test work offline.

Started by Terraform. GOOGLE_SCHEMA names google_schema.py's output, GOOGLE_TYPES the resources and data sources that are
to be known (all would take seconds to hand over), GOOGLE_ADDRESS the provider's address.
"""

import json
import os

import tf.provider
import tf.runner
from tf.gen import tfplugin_pb2 as wire
from tf.types import Unknown
from tf.utils import read_dynamic_value, to_dynamic_value

with open(os.environ["GOOGLE_SCHEMA"]) as file:
    SCHEMA = json.load(file)
TYPES = set(os.environ["GOOGLE_TYPES"].split())
RESOURCES = {name: block for name, block in SCHEMA["resources"].items() if name in TYPES}
DATA = {name: block for name, block in SCHEMA["data"].items() if name in TYPES}
NESTED = wire.Schema.NestedBlock


def attribute(name, facts, outermost):
    required, computed, only = (bool(facts.get(key)) for key in ("required", "computed", "only"))
    if outermost and name == "id":
        required, computed, only = False, True, False
    return wire.Schema.Attribute(
        name=name, type=json.dumps(facts["type"]).encode(), required=required, optional=not required and not only,
        computed=computed and not required)


def nested(name, facts):
    single = facts["nesting"] == "single"
    if single and name == "timeouts":
        return NESTED(type_name=name, block=described(facts["block"]), nesting=NESTED.NestingMode.SINGLE)
    return NESTED(
        type_name=name, block=described(facts["block"]), nesting=NESTED.NestingMode.LIST,
        min_items=1 if facts["required"] else 0, max_items=1 if single else 0)


def described(block, outermost=False):
    return wire.Schema.Block(
        attributes=[attribute(name, facts, outermost) for name, facts in block["attributes"].items()],
        block_types=[nested(name, facts) for name, facts in block["blocks"].items()])


def schema(block):
    return wire.Schema(version=0, block=described(block, outermost=True))


def planned(block, value, outermost=True):
    """What the provider answers later is unknown in a plan; otherwise nothing could refer to it."""
    if value is None:
        return None
    for name, facts in block["attributes"].items():
        if value.get(name) is None and (facts.get("computed") or (outermost and name == "id")):
            value[name] = Unknown
    for name, facts in block["blocks"].items():
        for inner in value.get(name) if isinstance(value.get(name), list) else []:
            planned(facts["block"], inner, outermost=False)
    return value


class Provider(tf.provider.ProviderServicer):
    # Names and signatures are the protocol's.
    def __init__(self, app=None):
        pass

    def GetMetadata(self, request, context):
        answer = wire.GetMetadata
        return answer.Response(
            resources=[answer.ResourceMetadata(type_name=name) for name in RESOURCES],
            data_sources=[answer.DataSourceMetadata(type_name=name) for name in DATA])

    def GetProviderSchema(self, request, context):
        return wire.GetProviderSchema.Response(
            provider=schema(SCHEMA["provider"]),
            resource_schemas={name: schema(block) for name, block in RESOURCES.items()},
            data_source_schemas={name: schema(block) for name, block in DATA.items()})

    def ValidateProviderConfig(self, request, context):
        return wire.ValidateProviderConfig.Response()

    def ValidateResourceConfig(self, request, context):
        return wire.ValidateResourceConfig.Response()

    def ValidateDataResourceConfig(self, request, context):
        return wire.ValidateDataResourceConfig.Response()

    def ConfigureProvider(self, request, context):
        return wire.ConfigureProvider.Response()

    def UpgradeResourceState(self, request, context):
        return wire.UpgradeResourceState.Response(upgraded_state=wire.DynamicValue(json=request.raw_state.json))

    def ReadResource(self, request, context):
        return wire.ReadResource.Response(new_state=request.current_state)

    def ImportResourceState(self, request, context):
        # As if it were there and said nothing of itself but its id.
        block = RESOURCES[request.type_name]
        value = {**dict.fromkeys(["id", *block["attributes"]]), **{name: [] for name in block["blocks"]}, "id": request.id}
        if "timeouts" in value:
            value["timeouts"] = None
        answer = wire.ImportResourceState
        return answer.Response(
            imported_resources=[answer.ImportedResource(type_name=request.type_name, state=to_dynamic_value(value))])

    def ReadDataSource(self, request, context):
        value = read_dynamic_value(request.config)
        for name, facts in DATA[request.type_name]["attributes"].items():
            if value.get(name) is None and facts["type"] == "string":
                value[name] = f"some-{name}"
        return wire.ReadDataSource.Response(state=to_dynamic_value(value))

    def PlanResourceChange(self, request, context):
        value = planned(RESOURCES[request.type_name], read_dynamic_value(request.proposed_new_state))
        return wire.PlanResourceChange.Response(planned_state=to_dynamic_value(value))

    def StopProvider(self, request, context):
        return wire.StopProvider.Response()


class Application:
    def full_name(self):
        return os.environ["GOOGLE_ADDRESS"]


if __name__ == "__main__":
    tf.provider.ProviderServicer = Provider
    tf.runner.run_provider(Application())
